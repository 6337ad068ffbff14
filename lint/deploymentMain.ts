import { fileURLToPath } from "node:url"
import { DEPLOYMENT_LINTERS } from "./Deployment.ts"

const folder = fileURLToPath(new URL("../deploy", import.meta.url))
let count = 0
for (const [file, lint] of Object.entries(DEPLOYMENT_LINTERS)) {
  const result = lint(folder)
  if ("missing" in result) {
    console.log(`Not linted: deploy/${file}, because ${result.missing} is not installed.`)
    continue
  }
  for (const problem of result) console.error(`deploy/${problem}`)
  count += result.length
}
console.log(`Deployment: ${count} problems.`)
process.exitCode = count > 0 ? 1 : 0
