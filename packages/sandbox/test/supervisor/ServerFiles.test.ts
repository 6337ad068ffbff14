import { createPrivateKey, createPublicKey } from "node:crypto"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { dkimSelector, outsideDomain, prepareServerFiles } from "../../src/supervisor/ServerFiles.ts"

interface ZoneRecord {
  readonly name: string
  readonly type: string
  readonly value: string
}

const zoneOf = async (path: string): Promise<ReadonlyArray<ZoneRecord>> => JSON.parse(await readFile(path, "utf8"))

it("creates SPF, DMARC and DKIM records for the mailbox domain and the external domain", async () => {
  const directory = await mkdtemp(join(tmpdir(), "agentos-files-"))
  onTestFinished(() => rm(directory, { recursive: true }))
  const files = await prepareServerFiles(directory, "mailboxes.test")
  const zone = await zoneOf(files.zoneFile)
  for (const [domain, keyFile] of [
    ["mailboxes.test", files.dkimKeyFile],
    [outsideDomain, files.outsideDkimKeyFile]
  ] as const) {
    const valueOf = (name: string, type: string) =>
      zone.find((record) => record.name === name && record.type === type)?.value
    expect(valueOf(domain, "TXT")).toBe("v=spf1 ip4:127.0.0.1 -all")
    expect(valueOf(`_dmarc.${domain}`, "TXT")).toBe("v=DMARC1; p=reject")
    const key = createPublicKey(createPrivateKey(await readFile(keyFile, "utf8"))).export({
      type: "spki",
      format: "der"
    })
    expect(valueOf(`${dkimSelector}._domainkey.${domain}`, "TXT")).toContain(key.toString("base64"))
  }
})

it("adds missing domains to the zone of an older version, and keeps its keys", async () => {
  const directory = await mkdtemp(join(tmpdir(), "agentos-files-"))
  onTestFinished(() => rm(directory, { recursive: true }))
  const before = await prepareServerFiles(directory, "mailboxes.test")
  const zone = await zoneOf(before.zoneFile)
  await writeFile(before.zoneFile, JSON.stringify(zone.filter(({ name }) => !name.endsWith(outsideDomain))))
  const after = await prepareServerFiles(directory, "mailboxes.test")
  expect(after).toEqual(before)
  expect(await zoneOf(after.zoneFile)).toEqual(zone)
})
