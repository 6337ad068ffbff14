#!/usr/bin/env bash
# Python 3.11.2 (Debian 12, 3.11.2-6+deb12u9): email writes a URL or a Message-ID that is longer than a line as encoded words.
#
# List-Unsubscribe, List-Id, References and In-Reply-To have no text in which RFC 2047, section 5, allows encoded words.
# EmailMessage folds them as if they were text: what has no space for 78 characters becomes encoded words, without a warning. Only
# Message-ID is left whole. A mail program then shows no button to unsubscribe, and an answer does not join its thread. mailparser
# 3.14.2 returns the URL as a name, and no url. Python 3.13.0 does the same. A policy with longer lines keeps the fields.
#
# Output:
#   List-Unsubscribe, 77 characters: a URL, mailparser url
#   List-Unsubscribe, 78 characters: encoded words, mailparser name
#   List-Unsubscribe, 78 characters, longer lines: a URL, mailparser url
#   References, 78 characters: encoded words
#   Message-ID, 78 characters: as it is
set -euo pipefail
command -v apt-get >/dev/null || { echo "skipped: this needs apt-get of Debian 12"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
version=3.11.2-6+deb12u9
# Into this folder only: nothing is installed.
apt-get -o APT::Sandbox::User=root -qq download python3.11-minimal=$version libpython3.11-minimal=$version libpython3.11-stdlib=$version ||
  { echo "skipped: apt has no python3.11-minimal $version"; exit 0; }
for package in *.deb; do dpkg-deb -x "$package" .; done
npm install --silent --no-audit --no-fund mailparser@3.14.2
cat >write.py <<'PROGRAM'
import sys
from email import policy
from email.message import EmailMessage

field, value, limit = sys.argv[1:]
mail = EmailMessage(policy=policy.SMTP.clone(max_line_length=int(limit)))
mail["From"] = "ada@a.example"
mail[field] = value
mail.set_content("Hello")
sys.stdout.buffer.write(mail.as_bytes())
PROGRAM
cat >run.mjs <<'PROGRAM'
import { simpleParser } from "mailparser"
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"

const env = { PYTHONHOME: `${process.cwd()}/usr` }
const write = (...words) => execFileSync("usr/bin/python3.11", ["write.py", ...words], { env })
const show = (label, seen, expected) => {
  console.log(`${label}: ${seen}`)
  assert.equal(seen, expected)
}
const isEncoded = (raw) => raw.includes("=?utf-8?q?")
const showUrl = async (length, expected, limit = 78) => {
  const raw = write("List-Unsubscribe", `<${"https://a.example/".padEnd(length - 2, "u")}>`, String(limit))
  const { unsubscribe } = (await simpleParser(raw)).headers.get("list")
  const label = `List-Unsubscribe, ${length} characters${limit === 78 ? "" : ", longer lines"}`
  show(label, `${isEncoded(raw) ? "encoded words" : "a URL"}, mailparser ${Object.keys(unsubscribe)[0]}`, expected)
}
await showUrl(77, "a URL, mailparser url")
await showUrl(78, "encoded words, mailparser name")
await showUrl(78, "a URL, mailparser url", 998)
const id = `<${"1@".padEnd(76, "a")}>`
const showId = (field, expected) =>
  show(`${field}, 78 characters`, isEncoded(write(field, id, "78")) ? "encoded words" : "as it is", expected)
showId("References", "encoded words")
showId("Message-ID", "as it is")
PROGRAM
node run.mjs
