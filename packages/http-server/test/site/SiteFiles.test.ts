import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SiteFiles } from "../../src/site/SiteFiles.ts"

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "agentos-site-"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error
  )

describe("the files of the site", () => {
  it("are read again after a failure, for example while another process replaces them", async () => {
    const path = join(folder, "page.md")
    writeFileSync(path, "# Page\n")
    const files = new SiteFiles(async () => folder, "http://agentos.test")
    await files.open()
    renameSync(path, `${path}.away`)
    assert.include(String(await failureOf(files.find("page.md"))), "ENOENT")
    renameSync(`${path}.away`, path)
    const file = await files.find("page.md")
    assert.strictEqual(Buffer.from((await file?.bytes("identity")) ?? "").toString(), "# Page\n")
  })
})
