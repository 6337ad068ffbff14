// Prints `N passed, N failed, N skipped` from the report that vitest wrote, and
// fails when a test failed, when none ran, or when there is no report to read.
import { readFileSync } from "node:fs"

const count = { passed: 0, failed: 0, skipped: 0 }
try {
  for (const file of JSON.parse(readFileSync(process.argv[2], "utf8")).testResults) {
    const before = count.failed
    for (const { status } of file.assertionResults)
      count[status === "passed" || status === "failed" ? status : "skipped"] += 1
    // A file that broke before, between or after its tests has failed, whatever its tests say.
    if (file.status === "failed" && count.failed === before) count.failed += 1
  }
} catch (error) {
  console.error(`No test report: ${error.message}`)
}
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
process.exitCode = count.failed === 0 && count.passed > 0 ? 0 : 1
