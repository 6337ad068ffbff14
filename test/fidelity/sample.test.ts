import { existsSync, readdirSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { faultsOf, compareMail } from "./mail.ts"
import { mailsIn } from "./MailCorpora.ts"

/** Where Debian's libpython3-testsuite has the mails of the tests of Python's email package. */
const DIRECTORY = readdirSync("/usr/lib", { withFileTypes: true })
  .filter(({ name }) => /^python3\.\d+$/.test(name))
  .map(({ name }) => join("/usr/lib", name, "test/test_email/data"))
  .find(existsSync)

let directory = ""
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "agentos-fidelity-"))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

describe("mail of a public corpus", () => {
  it.skipIf(DIRECTORY === undefined)(
    "is read as Python's email package or mailparser reads it (needs Debian's libpython3.x-testsuite)",
    async () => {
      const mails = await mailsIn(DIRECTORY!, (path) => /^msg_\w+\.txt$/.test(path))
      expect(mails.length).toBeGreaterThan(40)
      const results = await compareMail([{ name: "python", source: "libpython3-testsuite", mails }], directory)
      expect(results.flatMap(faultsOf)).toEqual([])
    }
  )
})
