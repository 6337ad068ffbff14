import { fileURLToPath } from "node:url"
import { readDependencies } from "./Dependencies.ts"

/** A run that reads fewer modules has lost its parser. */
const moduleCountMin = 10

const report = await readDependencies(fileURLToPath(new URL("..", import.meta.url)))
for (const violation of report.violations) {
  const way = violation.cycle.length > 0 ? [violation.from, ...violation.cycle] : [violation.from, violation.to]
  console.error(`${violation.rule}: ${way.join(" → ")}\n  ${violation.comment}`)
}
for (const path of report.unread) console.error(`not read: ${path}`)
const tooFew = report.moduleCount < moduleCountMin || report.importCount === 0
if (tooFew) console.error(`Only ${report.moduleCount} modules were read. Check the parser of dependency-cruiser.`)
console.log(
  `Dependencies: ${report.moduleCount} modules and ${report.importCount} imports read, ${report.violations.length} refused.`
)
process.exitCode = report.violations.length > 0 || report.unread.length > 0 || tooFew ? 1 : 0
