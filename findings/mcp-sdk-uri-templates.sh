#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2 matches and expands URI templates of resources otherwise than RFC 6570, which MCP refers to.
#
# A server finds a resource by the template that its URI matches. The package passes the values on as they are in the URI, with
# their escapes, so a number such as +12125552345, which its own expansion writes as %2B12125552345, is not found. A template
# with optional parameters matches only if all are there, in this order. Expansion loses variables of ";", prefixes such as
# {id:3}, all operators between several variables, and each escape of those. url-template 3.1.1 expands them right.
#
# Output:
#   numbers://{number} matches numbers://%2B12125552345: {"number":"%2B12125552345"}
#   mail://all{?from,label} matches mail://all?from=a&label=b: {"from":"a","label":"b"}
#   mail://all{?from,label} matches mail://all?from=a: null
#   mail://all{?from,label} matches mail://all?label=b&from=a: null
#   mail://all{?from,label} matches mail://all: null
#   {/id}: @modelcontextprotocol/sdk "/abcdef", url-template "/abcdef"
#   {/id,folder}: @modelcontextprotocol/sdk "abcdef,in box", url-template "/abcdef/in%20box"
#   {;id,folder}: @modelcontextprotocol/sdk "in box", url-template ";id=abcdef;folder=in%20box"
#   {id:3}: @modelcontextprotocol/sdk "", url-template "abc"
#   {?tag*}: @modelcontextprotocol/sdk "?tag=x,y", url-template "?tag=x&tag=y"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @modelcontextprotocol/sdk@1.32.2 url-template@3.1.1
cat >run.mjs <<'PROGRAM'
import { UriTemplate } from "@modelcontextprotocol/sdk/shared/uriTemplate.js"
import assert from "node:assert/strict"
import { parseTemplate } from "url-template"

const showMatch = (template, uri, expected) => {
  const seen = JSON.stringify(new UriTemplate(template).match(uri))
  console.log(`${template} matches ${uri}: ${seen}`)
  assert.equal(seen, expected)
}
showMatch("numbers://{number}", new UriTemplate("numbers://{number}").expand({ number: "+12125552345" }), '{"number":"%2B12125552345"}')
showMatch("mail://all{?from,label}", "mail://all?from=a&label=b", '{"from":"a","label":"b"}')
showMatch("mail://all{?from,label}", "mail://all?from=a", "null")
showMatch("mail://all{?from,label}", "mail://all?label=b&from=a", "null")
showMatch("mail://all{?from,label}", "mail://all", "null")
const values = { id: "abcdef", folder: "in box", tag: ["x", "y"] }
const showExpand = (template, ...expected) => {
  const seen = [new UriTemplate(template).expand(values), parseTemplate(template).expand(values)]
  console.log(`${template}: @modelcontextprotocol/sdk ${JSON.stringify(seen[0])}, url-template ${JSON.stringify(seen[1])}`)
  assert.deepEqual(seen, expected)
}
showExpand("{/id}", "/abcdef", "/abcdef")
showExpand("{/id,folder}", "abcdef,in box", "/abcdef/in%20box")
showExpand("{;id,folder}", "in box", ";id=abcdef;folder=in%20box")
showExpand("{id:3}", "", "abc")
showExpand("{?tag*}", "?tag=x,y", "?tag=x&tag=y")
PROGRAM
node run.mjs
