/** Builds the published package in the folder of the argument, or in dist/npm, which `pnpm pack:all` packs. */
import { fileURLToPath } from "node:url"
import { bundle } from "./Bundle.ts"

const folder = process.argv[2] ?? fileURLToPath(new URL("../dist/npm", import.meta.url))
await bundle(folder)
console.log(`Built agentctl in ${folder}`)
