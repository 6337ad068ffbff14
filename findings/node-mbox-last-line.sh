#!/usr/bin/env bash
# node-mbox 2.0.0 drops the last line of a mailbox that does not end in a line feed, and mbox-parser 1.0.1 the letters of 8-bit
# mail.
#
# A file that was cut to size, or joined by a program, has no line feed at its end. The rest of the last mail is read, so
# nothing shows that a line is missing. mbox-parser reads the whole file as UTF-8 before it looks at the charset of a mail, so
# each letter beyond ASCII of a mail in ISO-8859-1 becomes the same three. mbox-reader 1.2.0 returns both as they are.
#
# Output:
#   line feed at the end: node-mbox "one\ntwo", mbox-parser "one\ntwo", mbox-reader "one\ntwo"
#   no line feed at the end: node-mbox "one", mbox-parser "one\ntwo", mbox-reader "one\ntwo"
#   ISO-8859-1: node-mbox "für Zoë", mbox-parser "fï¿½r Zoï¿½", mbox-reader "für Zoë"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund node-mbox@2.0.0 mbox-parser@1.0.1 mbox-reader@1.2.0
cat >run.mjs <<'PROGRAM'
import { mboxParser } from "mbox-parser"
import mboxReader from "mbox-reader"
import nodeMbox from "node-mbox"
import assert from "node:assert/strict"
import { Readable } from "node:stream"

const from = "From ada@a.example Tue Jun  1 10:00:00 2027\n"
const head = 'Subject: Hi\nContent-Type: text/plain; charset="iso-8859-1"\nContent-Transfer-Encoding: 8bit\n\n'
const streamOf = (text) => Readable.from([Buffer.from(from + head + text, "latin1")])
const textOf = (bytes) => Buffer.from(bytes).toString("latin1").split("\n\n")[1]?.trim()
const readers = {
  "node-mbox": (text) =>
    new Promise((resolve) => nodeMbox.MboxStream(streamOf(text)).on("data", (mail) => resolve(textOf(mail)))),
  "mbox-parser": async (text) => (await mboxParser(streamOf(text)))[0].text.trim(),
  "mbox-reader": async (text) => {
    for await (const { content } of mboxReader.mboxReader(streamOf(text))) return textOf(content)
  }
}
const show = async (label, text, ...expected) => {
  const seen = []
  for (const read of Object.values(readers)) seen.push(JSON.stringify(await read(text)))
  console.log(`${label}: ${Object.keys(readers).map((name, at) => `${name} ${seen[at]}`).join(", ")}`)
  assert.deepEqual(seen, expected)
}
await show("line feed at the end", "one\ntwo\n", '"one\\ntwo"', '"one\\ntwo"', '"one\\ntwo"')
await show("no line feed at the end", "one\ntwo", '"one"', '"one\\ntwo"', '"one\\ntwo"')
await show("ISO-8859-1", "für Zoë\n", '"für Zoë"', '"fï¿½r Zoï¿½"', '"für Zoë"')
process.exit()
PROGRAM
node run.mjs
