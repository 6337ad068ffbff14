import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { startSandbox } from "../support/Sandbox.ts"

const MAIN = fileURLToPath(new URL("main.ts", import.meta.resolve("@agentos/http-server")))

it("a second server on an embedded database does not start, says what to do, and leaves the first alone", async () => {
  const sandbox = await startSandbox()
  try {
    const { baseUrl, chain } = await sandbox.describe()
    const network = { network: chain.network, rpcUrl: chain.rpcUrl, asset: chain.asset, decimals: 6, confirmations: 1 }
    const child = spawn(process.execPath, [MAIN], {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        AGENTOS_ENVIRONMENT: "sandbox",
        AGENTOS_PUBLIC_URL: baseUrl,
        AGENTOS_PORT: "0",
        AGENTOS_KEYS: `1:${"k".repeat(44)}`,
        AGENTOS_DATA_DIR: join(sandbox.directory, "database"),
        AGENTOS_NETWORKS: JSON.stringify([
          {
            ...network,
            name: chain.assetName,
            version: chain.assetVersion,
            payTo: chain.payTo,
            maxTimeoutSeconds: 30,
            facilitator: { url: "http://127.0.0.1:9" }
          }
        ])
      }
    })
    let said = ""
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (said += text))
    }
    const [status] = (await once(child, "close")) as [number | null]
    expect(said).toMatch(
      /^agentos: .* is in use by process \d+: stop it first, or choose another directory\. .*PostgreSQL/m
    )
    expect(said).not.toContain("listening")
    expect(status).toBe(1)
    expect((await fetch(`${baseUrl}/api/v1`)).status).toBe(200)
  } finally {
    await sandbox.stop()
  }
})
