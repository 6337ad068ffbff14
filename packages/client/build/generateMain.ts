/** Generates the types and the table of operations from the OpenAPI document. */
import { writeFileSync } from "node:fs"
import { generate } from "./Generate.ts"

for (const [name, text] of Object.entries(await generate()))
  writeFileSync(new URL(`../src/generated/${name}`, import.meta.url), text)
