"""Runs the program that each line of standard input names, in turn, and reports its end as a line."""
import json
import os
import runpy
import sys
import traceback

for line in sys.stdin:
    program = json.loads(line)
    os.environ.update(program["environment"])
    try:
        runpy.run_path(program["file"], run_name="__main__")
        print("\nended " + program["file"])
    except BaseException:
        print("\nfailed " + program["file"] + " " + json.dumps(traceback.format_exc()))
