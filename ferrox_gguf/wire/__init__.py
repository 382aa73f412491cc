"""The wire dialects: JSON to requests, events to JSON. Pure: no sockets, no clocks but the one passed in, no model."""
