/** Builds the npm package in dist/npm. `npm install packages/cli/dist/npm` installs it. */
import { fileURLToPath } from "node:url"
import { bundle } from "./Bundle.ts"

const folder = fileURLToPath(new URL("../dist/npm", import.meta.url))
await bundle(folder)
console.log(`Built agentctl in ${folder}`)
