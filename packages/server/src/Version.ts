import { readFileSync } from "node:fs"

const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8")

/** The version in package.json. */
export const VERSION: string = (JSON.parse(manifest) as { readonly version: string }).version
