/** Generates REFERENCE.md from the command table. */
import { writeFileSync } from "node:fs"
import { COMMAND_TREE } from "../src/command/Commands.ts"
import { reference } from "../src/help/Reference.ts"

writeFileSync(new URL("../REFERENCE.md", import.meta.url), reference(COMMAND_TREE))
