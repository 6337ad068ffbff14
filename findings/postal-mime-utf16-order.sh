#!/usr/bin/env bash
# postal-mime 4.0.0 reads text in the charset utf-16 without a byte order mark as little-endian, and mailparser 3.14.2 as it was
# written.
#
# RFC 2781 (section 4.3) says that such text should be read as big-endian. The label of TextDecoder, which postal-mime uses, means
# little-endian by the Encoding Standard: web pages and mail differ here. mailparser compares the bytes.
#
# Output:
#   big-endian "Hé": postal-mime "䠀", mailparser "Hé"
#   little-endian "Hé": postal-mime "Hé", mailparser "Hé"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund postal-mime@4.0.0 mailparser@3.14.2
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { simpleParser } from "mailparser"
import PostalMime from "postal-mime"

const show = async (order, bytes, expected) => {
  const body = Buffer.from(bytes).toString("base64")
  const raw = `From: ada@a.example\r\nContent-Type: text/plain; charset=utf-16\r\nContent-Transfer-Encoding: base64\r\n\r\n${body}\r\n`
  const texts = [(await PostalMime.parse(raw)).text, (await simpleParser(raw)).text].map((text) => text.trim())
  console.log(`${order} "Hé": postal-mime ${JSON.stringify(texts[0])}, mailparser ${JSON.stringify(texts[1])}`)
  assert.deepEqual(texts, expected)
}
await show("big-endian", [0, 0x48, 0, 0xe9], ["䠀\ue900", "Hé"])
await show("little-endian", [0x48, 0, 0xe9, 0], ["Hé", "Hé"])
PROGRAM
node run.mjs
