/** Writes REFERENCE.md anew, from the table of commands. */
import { writeFileSync } from "node:fs"
import { reference } from "../src/help/Reference.ts"

writeFileSync(new URL("../REFERENCE.md", import.meta.url), reference())
