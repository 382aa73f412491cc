import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "fetch_templates.py"


def test_the_script_prints_the_folder_with_the_templates_of_the_pinned_version():
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=True)
    folder = Path(done.stdout.strip())
    assert len(list(folder.glob("*.jinja"))) >= 69
    assert f"llama-cpp-python=={folder.name}" in (SCRIPT.parents[1] / "pyproject.toml").read_text()
