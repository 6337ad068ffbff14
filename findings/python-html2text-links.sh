#!/usr/bin/env bash
# python3-html2text 2020.1.16-2 of Debian 12 breaks links at their hyphens, and writes letters that are entities in ASCII.
#
# Lines get 78 characters by default, and a hyphen of a URL is a place to break it. Links to confirm an account are longer, so an
# agent or a person opens half of one. "caf&eacute;" becomes "cafe", and "café" stays. Two bold parts of a code get a space
# between them. Set body_width = 0 and unicode_snob = True, and remove spaces and asterisks before a code is used.
#
# Output:
#   link: "[Confirm](https://a.example/confirm-your-address-and-create-your-\naccount/0123456789)"
#   link, body_width 0: "[Confirm](https://a.example/confirm-your-address-and-create-your-account/0123456789)"
#   &eacute;: "cafe"
#   é: "café"
#   &eacute;, unicode_snob: "café"
#   two bold parts: "**12** **34**"
set -euo pipefail
command -v apt-get >/dev/null || { echo "skipped: this needs apt-get of Debian 12"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
version=3.11.2-6+deb12u9
# Into this folder only: nothing is installed.
apt-get -o APT::Sandbox::User=root -qq download python3.11-minimal=$version libpython3.11-minimal=$version \
  libpython3.11-stdlib=$version python3-html2text=2020.1.16-2 || { echo "skipped: apt lacks one of these versions"; exit 0; }
for package in *.deb; do dpkg-deb -x "$package" .; done
cat >run.py <<'PROGRAM'
import json
import sys

sys.path.append("usr/lib/python3/dist-packages")
from html2text import HTML2Text


def show(label, html, expected, **options):
    reader = HTML2Text()
    for name, value in options.items():
        setattr(reader, name, value)
    seen = reader.handle(html).strip()
    print(f"{label}: {json.dumps(seen, ensure_ascii=False)}")
    assert seen == expected


URL = "https://a.example/confirm-your-address-and-create-your-account/0123456789"
LINK = f'<p><a href="{URL}">Confirm</a></p>'
show("link", LINK, f"[Confirm]({URL.replace('account', chr(10) + 'account')})")
show("link, body_width 0", LINK, f"[Confirm]({URL})", body_width=0)
show("&eacute;", "<p>caf&eacute;</p>", "cafe")
show("é", "<p>café</p>", "café")
show("&eacute;, unicode_snob", "<p>caf&eacute;</p>", "café", unicode_snob=True)
show("two bold parts", "<p><b>12</b><b>34</b></p>", "**12** **34**")
PROGRAM
PYTHONHOME=$PWD/usr usr/bin/python3.11 run.py
