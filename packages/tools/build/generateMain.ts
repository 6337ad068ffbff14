/** Generates the schemas and prices of the tools from the OpenAPI document. */
import { writeFileSync } from "node:fs"
import { generate } from "./Generate.ts"

writeFileSync(new URL("../src/generated/Contract.ts", import.meta.url), generate())
