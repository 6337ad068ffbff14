#!/usr/bin/env bash
# mailparser 3.14.2 reads List-Unsubscribe and List-Id as lists of addresses: URLs are lost, cut, or returned under another name.
#
# RFC 2369, section 2, puts URLs into angle brackets, several of a kind if needed, and allows comments. headers.get("list") has the
# last URL of a kind; none behind a comment; one with "@" as `mail`; one with parentheses without them. A List-Id without a phrase
# (RFC 2919) becomes the name, and `id` is missing. Read these fields from headerLines.
#
# Output:
#   List-Unsubscribe: <https://a.example/1>, <https://a.example/2>: {"url":"https://a.example/2"}
#   List-Unsubscribe: (Leave) <https://a.example/1>: {"name":"Leave","id":"https://a.example/1"}
#   List-Unsubscribe: <https://a.example/bob@b.example>: {"mail":"https://a.example/bob@b.example"}
#   List-Unsubscribe: <https://a.example/list(1)/leave>: {"name":"1","id":"https://a.example/list /leave"}
#   List-Id: Cats <cats.a.example>: {"name":"Cats","id":"cats.a.example"}
#   List-Id: <cats.a.example>: {"name":"cats.a.example"}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund mailparser@3.14.2
cat >run.mjs <<'PROGRAM'
import { simpleParser } from "mailparser"
import assert from "node:assert/strict"

const show = async (name, value, expected) => {
  const mail = await simpleParser(`From: list@a.example\r\n${name}: ${value}\r\n\r\nHello\r\n`)
  const seen = mail.headers.get("list")[name.slice("List-".length).toLowerCase()]
  console.log(`${name}: ${value}: ${JSON.stringify(seen)}`)
  assert.deepEqual(seen, expected)
}
const unsubscribe = "List-Unsubscribe"
await show(unsubscribe, "<https://a.example/1>, <https://a.example/2>", { url: "https://a.example/2" })
await show(unsubscribe, "(Leave) <https://a.example/1>", { name: "Leave", id: "https://a.example/1" })
await show(unsubscribe, "<https://a.example/bob@b.example>", { mail: "https://a.example/bob@b.example" })
await show(unsubscribe, "<https://a.example/list(1)/leave>", { name: "1", id: "https://a.example/list /leave" })
await show("List-Id", "Cats <cats.a.example>", { name: "Cats", id: "cats.a.example" })
await show("List-Id", "<cats.a.example>", { name: "cats.a.example" })
PROGRAM
node run.mjs
