#!/usr/bin/env bash
# python3-sievelib 1.2.1-1 of Debian 12 writes texts into Sieve scripts without escapes, so the flag \Seen becomes the word Seen.
#
# A backslash and a quotation mark need a backslash in a string (RFC 5228, section 2.4.2). A filter that shall mark mail as read
# sets a keyword instead, without an error. A subject with quotation marks makes a script that servers refuse. Where a filter is
# read from a script, the escapes stay, and a quotation mark at the end is lost. Escape what you pass to FiltersSet.
#
# Output:
#   addflag \Seen: addflag "\Seen"; which sets the flag Seen
#   addflag \\Seen: addflag "\\Seen"; which sets the flag \Seen
#   Subject is say "hi": header :is "Subject" "say "hi"" which is no Sieve
#   read from header :is "Subject" "say \"hi\"": say \"hi\
set -euo pipefail
command -v apt-get >/dev/null || { echo "skipped: this needs apt-get of Debian 12"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
version=3.11.2-6+deb12u9
# Into this folder only: nothing is installed.
apt-get -o APT::Sandbox::User=root -qq download python3.11-minimal=$version libpython3.11-minimal=$version \
  libpython3.11-stdlib=$version python3-sievelib=1.2.1-1 python3-pkg-resources ||
  { echo "skipped: apt lacks one of these versions"; exit 0; }
for package in *.deb; do dpkg-deb -x "$package" .; done
cat >run.py <<'PROGRAM'
import re
import sys

sys.path.append("usr/lib/python3/dist-packages")
from sievelib.factory import FiltersSet
from sievelib.parser import Parser


def script(conditions, actions):
    filters = FiltersSet("all")
    filters.addfilter("one", conditions, actions)
    return str(filters)


def show(label, seen, expected):
    print(f"{label}: {seen}")
    assert seen == expected


for flag, becomes in (r"\Seen", "Seen"), (r"\\Seen", r"\Seen"):
    command = re.search(r'addflag "(.*)";', script([("Subject", ":is", "Hi")], [("addflag", flag)]))
    value = re.sub(r"\\(.)", r"\1", command[1])
    show(f"addflag {flag}", f"{command[0]} which sets the flag {value}", f'addflag "{flag}"; which sets the flag {becomes}')
text = script([("Subject", ":is", 'say "hi"')], [("keep",)])
test = re.search(r"header .*(?=\) {)", text)[0]
result = "is Sieve" if Parser().parse(text) else "is no Sieve"
show('Subject is say "hi"', f"{test} which {result}", 'header :is "Subject" "say "hi"" which is no Sieve')
parser = Parser()
test = r'header :is "Subject" "say \"hi\""'
assert parser.parse(f"# Filter: one\nif anyof ({test}) {{ keep; }}\n")
filters = FiltersSet("all")
filters.from_parser_result(parser)
show(f"read from {test}", filters.get_filter_conditions("one")[0][2], r"say \"hi" + "\\")
PROGRAM
PYTHONHOME=$PWD/usr usr/bin/python3.11 run.py
