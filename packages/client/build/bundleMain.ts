/** Writes the published files: the client as one module, and its declarations as one. */
import { fileURLToPath } from "node:url"
import { build } from "rolldown"
import { dts } from "rolldown-plugin-dts"

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const output = { dir: path("dist/npm"), entryFileNames: "client.js", comments: false } as const

await build({ input: path("src/index.ts"), platform: "neutral", output: { ...output, minify: true, cleanDir: true } })
// The compiler has written the declarations, without those that are internal.
await build({
  input: { client: path("dist/index.d.ts") },
  plugins: [dts({ dtsOnly: true })],
  output: { dir: path("dist/npm"), entryFileNames: "[name].ts" }
})
