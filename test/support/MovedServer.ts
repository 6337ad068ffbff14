import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import type { Sandbox, SandboxOptions } from "./Sandbox.ts"

/** Environment variable with the file of the circumstances that `movedServerMain.ts` reads. */
export const CIRCUMSTANCES_VARIABLE = "TEST_SERVER_CIRCUMSTANCES"

export interface Circumstances {
  /** Milliseconds by which the clocks of the server and its database are ahead. */
  readonly aheadMillis: number
  readonly hasCarrier: boolean
}

const USUAL: Circumstances = { aheadMillis: 0, hasCarrier: true }
const POLL_MILLIS = 50
const PATIENCE_MILLIS = 60_000

/** A sandbox's server that can be restarted at a later date or without its carrier. */
export class MovedServer {
  private readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  static async make(): Promise<MovedServer> {
    const moved = new MovedServer(await mkdtemp(join(tmpdir(), "agentos-moved-")))
    await moved.write(USUAL)
    return moved
  }

  /** Options of a sandbox that runs this server. */
  get options(): SandboxOptions {
    return {
      environment: {
        AGENTOS_SANDBOX_SERVER_MODULE: fileURLToPath(new URL("movedServerMain.ts", import.meta.url)),
        [CIRCUMSTANCES_VARIABLE]: this.file
      }
    }
  }

  /** Ends the server and waits until the sandbox has restarted it in these circumstances. */
  async restart(sandbox: Sandbox, circumstances: Partial<Circumstances>): Promise<void> {
    await this.write({ ...USUAL, ...circumstances })
    const { baseUrl, processes } = await sandbox.describe()
    process.kill(processes.server, "SIGTERM")
    const deadline = Date.now() + PATIENCE_MILLIS
    for (;;) {
      const now = await sandbox.describe()
      if (now.processes.server !== processes.server && (await isServed(baseUrl))) return
      if (Date.now() > deadline) throw new Error(`the server was not restarted:\n${sandbox.output()}`)
      await sleep(POLL_MILLIS)
    }
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true })
  }

  private get file(): string {
    return join(this.folder, "circumstances.json")
  }

  private write(circumstances: Circumstances): Promise<void> {
    return writeFile(this.file, JSON.stringify(circumstances))
  }
}

const isServed = (baseUrl: string): Promise<boolean> =>
  fetch(`${baseUrl}/api/v1`).then(
    ({ ok }) => ok,
    () => false
  )
