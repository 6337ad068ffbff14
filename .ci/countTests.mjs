// Prints `N passed, N failed, N skipped` from the reports of vitest. Fails if a test
// failed, or if a report is missing, invalid or without a passed test.
import { readFileSync } from "node:fs"

const count = { passed: 0, failed: 0, skipped: 0 }
let isComplete = true
for (const path of process.argv.slice(2)) {
  const before = count.passed
  try {
    for (const file of JSON.parse(readFileSync(path, "utf8")).testResults) {
      const failedBefore = count.failed
      for (const { status } of file.assertionResults)
        count[status === "passed" || status === "failed" ? status : "skipped"] += 1
      // A failure outside the tests of a file counts as one.
      if (file.status === "failed" && count.failed === failedBefore) count.failed += 1
    }
  } catch (error) {
    console.error(`No test report: ${error.message}`)
  }
  if (count.passed === before) isComplete = false
}
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
process.exitCode = count.failed === 0 && isComplete ? 0 : 1
