#!/usr/bin/env bash
# html-email-to-text 1.0.4 returns the texts of all mails that the process has converted before, and then the text of this mail.
#
# The package keeps its output between calls. A test with one mail does not show it. Of a link's text with an entity, it returns
# only the last piece. html-to-text 10.0.1 returns both as expected.
#
# Output:
#   first mail: html-email-to-text "Hello", html-to-text "Hello"
#   second mail: html-email-to-text "Hello Bye", html-to-text "Bye"
#   link with an entity: html-email-to-text "Hello Bye  Sons [https://a.example/]", html-to-text "Smith & Sons [https://a.example/]"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund html-email-to-text@1.0.4 html-to-text@10.0.1
cat >run.mjs <<'PROGRAM'
import htmlEmailToText from "html-email-to-text"
import { convert } from "html-to-text"
import assert from "node:assert/strict"

const toText = htmlEmailToText.default ?? htmlEmailToText
const show = (label, html, ...expected) => {
  const seen = [toText(html).trim(), convert(html)]
  console.log(`${label}: html-email-to-text ${JSON.stringify(seen[0])}, html-to-text ${JSON.stringify(seen[1])}`)
  assert.deepEqual(seen, expected)
}
show("first mail", "<p>Hello</p>", "Hello", "Hello")
show("second mail", "<p>Bye</p>", "Hello Bye", "Bye")
const link = '<a href="https://a.example/">Smith &amp; Sons</a>'
show("link with an entity", link, "Hello Bye  Sons [https://a.example/]", "Smith & Sons [https://a.example/]")
PROGRAM
node run.mjs
