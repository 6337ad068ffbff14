#!/usr/bin/env bash
# address-rfc2822 2.2.4 writes a capital letter behind each letter beyond ASCII of a name: "jörg" becomes "JöRg".
#
# Its method name() gives capitals to names that are all in small letters or in capitals, and takes ö for the end of a word. A
# name in encoded words (RFC 2047), as mail has all such names, gives no name at all, although phrase has the words. The name of
# a group is returned as an address that has none, and its members are not. phrase and original have the name as it was written.
#
# Output:
#   jorg muller <joerg@a.example>: Jorg Muller <joerg@a.example>
#   jörg müller <joerg@a.example>: JöRg MüLler <joerg@a.example>
#   JÖRG MÜLLER <joerg@a.example>: JöRg MüLler <joerg@a.example>
#   =?utf-8?Q?J=C3=B6rg?= <joerg@a.example>:  <joerg@a.example>
#   Team: ada@a.example, bob@b.example;: Team <undefined>
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund address-rfc2822@2.2.4
cat >run.mjs <<'PROGRAM'
import { parse } from "address-rfc2822"
import assert from "node:assert/strict"

const show = (list, ...expected) => {
  const seen = parse(list).map((each) => `${each.name()} <${each.address}>`)
  console.log(`${list}: ${seen.join(", ")}`)
  assert.deepEqual(seen, expected)
}
show("jorg muller <joerg@a.example>", "Jorg Muller <joerg@a.example>")
show("jörg müller <joerg@a.example>", "JöRg MüLler <joerg@a.example>")
show("JÖRG MÜLLER <joerg@a.example>", "JöRg MüLler <joerg@a.example>")
show("=?utf-8?Q?J=C3=B6rg?= <joerg@a.example>", " <joerg@a.example>")
show("Team: ada@a.example, bob@b.example;", "Team <undefined>")
PROGRAM
node run.mjs
