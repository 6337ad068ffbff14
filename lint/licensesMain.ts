import { text } from "node:stream/consumers"
import { readLicenses } from "./Licenses.ts"

/** A document with fewer components than this has lost some, and proves nothing. */
const COMPONENT_COUNT_MIN = 100

const { componentCount, refused } = readLicenses(await text(process.stdin))
for (const line of refused) console.error(`license not allowed: ${line}`)
const tooFew = componentCount < COMPONENT_COUNT_MIN
if (tooFew) console.error(`Only ${componentCount} components were read: the check proves nothing.`)
console.log(`Licenses: ${componentCount} components read, ${refused.length} refused.`)
process.exitCode = refused.length > 0 || tooFew ? 1 : 0
