// Prints the failures and `N passed, N failed, N skipped` from the reports of vitest.
// Fails if a test failed, or if a report is missing, invalid or without a passed test.
import { readFileSync } from "node:fs"
import { relative } from "node:path"

const count = { passed: 0, failed: 0, skipped: 0 }
let isComplete = true

function printFailure(path, title, messages) {
  console.log(`FAILED ${relative(process.cwd(), path)}: ${title}`)
  for (const message of messages ?? []) console.log(`${message ?? ""}`.slice(0, 2_000))
}

for (const path of process.argv.slice(2)) {
  const before = count.passed
  try {
    for (const file of JSON.parse(readFileSync(path, "utf8")).testResults) {
      const failedBefore = count.failed
      for (const { failureMessages, fullName, status } of file.assertionResults) {
        count[status === "passed" || status === "failed" ? status : "skipped"] += 1
        if (status === "failed") printFailure(file.name, fullName, failureMessages)
      }
      // A failure outside the tests of a file counts as one.
      if (file.status === "failed" && count.failed === failedBefore) {
        count.failed += 1
        printFailure(file.name, "outside its tests", [file.message])
      }
    }
  } catch (error) {
    console.error(`No test report: ${error.message}`)
  }
  if (count.passed === before) isComplete = false
}
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
process.exitCode = count.failed === 0 && isComplete ? 0 : 1
