import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { writeDeployment } from "../../src/chain/ChainDescription.ts"
import { openDataDirectory } from "../../src/supervisor/DataDirectory.ts"
import { checkAllowedWebhook, layOut, layOutTelephony } from "../../src/supervisor/RunLayout.ts"
import { openCertificateAuthority } from "../../src/agent/CertificateAuthority.ts"

const fresh = (): string => {
  const root = mkdtempSync(join(tmpdir(), "agentos-telephony-"))
  onTestFinished(() => rmSync(root, { recursive: true }))
  return root
}

const agent = { host: "127.0.0.1", port: 20_000 }

it("keeps the account and the authority of a data directory between runs", async () => {
  const data = await openDataDirectory(fresh())
  const first = await layOutTelephony(data, agent, undefined)
  expect(first).toEqual({
    accountSid: expect.stringMatching(/^AC[0-9a-f]{32}$/),
    authToken: expect.stringMatching(/^[0-9a-f]{32}$/),
    agentCaFile: join(data.agent, "ca.pem"),
    allowed: [{ ...agent, caFile: join(data.agent, "ca.pem") }]
  })
  const { caFile } = await openCertificateAuthority(fresh())
  const userAgent = { host: "localhost", port: 9_443, caFile }
  expect(await layOutTelephony(data, agent, userAgent)).toEqual({ ...first, allowed: [...first.allowed, userAgent] })
  const other = await layOutTelephony(await openDataDirectory(fresh()), agent, undefined)
  expect(other.accountSid).not.toBe(first.accountSid)
  expect(other.authToken).not.toBe(first.authToken)
})

it("accepts only a readable certificate for an allowed webhook", async () => {
  const directory = fresh()
  const check = (caFile: string) => checkAllowedWebhook({ host: "localhost", port: 9_443, caFile })
  await expect(check(join(directory, "none.pem"))).rejects.toThrow(/could not be read: ENOENT/)
  await expect(check(directory)).rejects.toThrow(/could not be read: EISDIR/)
  const notes = join(directory, "notes.pem")
  writeFileSync(notes, "not a certificate")
  await expect(check(notes)).rejects.toThrow(`does not contain a PEM certificate: ${notes}`)
  await expect(check((await openCertificateAuthority(directory)).caFile)).resolves.toBeUndefined()
})

it("has a new chain until each network of the run is deployed, and the same accounts on all of them", async () => {
  const data = await openDataDirectory(fresh())
  const options = { port: 0, servers: 1, wallets: 1, databaseUrl: undefined } as const
  const { chain, isNewChain, tetherChain } = await layOut(data, options)
  expect([isNewChain, tetherChain]).toEqual([true, undefined])
  await writeDeployment(data.chain, chain)
  expect(await layOut(data, options)).toMatchObject({ isNewChain: false })
  const both = await layOut(data, { ...options, networks: 2 })
  expect(both).toMatchObject({
    isNewChain: true,
    tetherChain: { network: "eip155:402403", wallets: chain.wallets, payTo: chain.payTo }
  })
  expect(both.tetherChain?.rpcUrl).not.toBe(chain.rpcUrl)
  await mkdir(data.tetherChain)
  await writeDeployment(data.tetherChain, both.tetherChain!)
  expect(await layOut(data, { ...options, networks: 2 })).toMatchObject({ isNewChain: false })
  const three = await layOut(data, { ...options, networks: 3 })
  expect(three).toMatchObject({ isNewChain: true, usdcChain: { network: "eip155:402403", gasSponsoring: "eip2612" } })
  expect(three.usdcChain?.rpcUrl).toBe(three.tetherChain?.rpcUrl)
  expect(three.usdcChain?.asset).not.toBe(three.tetherChain?.asset)
})
