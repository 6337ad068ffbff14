import { afterEach, beforeEach } from "vitest"

let timedOut: string | undefined

// A service that no longer answers would use up the time limit of every test of the file.
beforeEach(({ skip }) => skip(timedOut !== undefined, `"${timedOut}" timed out`))

afterEach(({ task }) => {
  if (task.result?.errors?.some(({ name }) => name === "TestTimeoutError")) timedOut = task.name
})
