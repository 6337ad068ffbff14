#!/usr/bin/env bash
# python3-flufl.bounce 4.0-3 of Debian 12 cuts the address of a delivery report at "=", and finds no address with a hyphen in its
# domain in a report that is plain text.
#
# It reads Final-Recipient as if it were a MIME field with parameters. Addresses that a forwarder (SRS) or a list (VERP) has written
# contain "=": the result is the beginning of the local part, in lower case, without a domain. Mailman 3 uses this package. A
# program that stops writing to failed addresses never stops for these. Read Final-Recipient with Python's email package instead.
#
# Output:
#   delivery-status, bob@b.example: bob@b.example
#   delivery-status, SRS0=HHH=TT=b.example=bob@c.example: srs0
#   delivery-status, list+bob=b.example@c.example: list+bob
#   delivery-status, bob@mail-b.example: bob@mail-b.example
#   plain text, bob@b.example: bob@b.example
#   plain text, SRS0=HHH=TT=b.example=bob@c.example: SRS0=HHH=TT=b.example=bob@c.example
#   plain text, bob@mail-b.example: nothing
set -euo pipefail
command -v apt-get >/dev/null || { echo "skipped: this needs apt-get of Debian 12"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
version=3.11.2-6+deb12u9
# Into this folder only: nothing is installed.
apt-get -o APT::Sandbox::User=root -qq download python3.11-minimal=$version libpython3.11-minimal=$version \
  libpython3.11-stdlib=$version python3-flufl.bounce=4.0-3 python3-public=2.3-4 python3-zope.interface ||
  { echo "skipped: apt lacks one of these versions"; exit 0; }
for package in *.deb; do dpkg-deb -x "$package" .; done
cat >run.py <<'PROGRAM'
import sys
import types

packages = "usr/lib/python3/dist-packages"
sys.path.append(packages)
sys.modules["zope"] = types.ModuleType("zope")
sys.modules["zope"].__path__ = [f"{packages}/zope"]
from email import message_from_string

from flufl.bounce import scan_message

STATUS = """Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b

Not delivered.
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.a.example

Final-Recipient: rfc822; {}
Action: failed
Status: 5.1.1

--b--
"""
TEXT = """Subject: Delivery Status Notification (Failure)

Delivery to the following recipient failed permanently:

     {}

----- Original message -----

Hello
"""


def show(kind, report, address, expected):
    found = scan_message(message_from_string(report.format(address)))
    seen = b" ".join(found).decode() or "nothing"
    print(f"{kind}, {address}: {seen}")
    assert seen == expected


FORWARDED = "SRS0=HHH=TT=b.example=bob@c.example"
show("delivery-status", STATUS, "bob@b.example", "bob@b.example")
show("delivery-status", STATUS, FORWARDED, "srs0")
show("delivery-status", STATUS, "list+bob=b.example@c.example", "list+bob")
show("delivery-status", STATUS, "bob@mail-b.example", "bob@mail-b.example")
show("plain text", TEXT, "bob@b.example", "bob@b.example")
show("plain text", TEXT, FORWARDED, FORWARDED)
show("plain text", TEXT, "bob@mail-b.example", "nothing")
PROGRAM
PYTHONHOME=$PWD/usr usr/bin/python3.11 run.py
