import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { type DefenseRig, HONEST_ADDRESS } from "./DefenseRig.ts"
import type { HonestClientOptions } from "./HonestClient.ts"
import type { HonestReport } from "./HonestStatistics.ts"

const MAIN = fileURLToPath(new URL("honestMain.ts", import.meta.url))

/** An honest client of the rig's honest tenant, in another process. */
export class HonestProcess {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start({ honest, sandbox, smtp }: DefenseRig): Promise<HonestProcess> {
    const options: HonestClientOptions = {
      baseUrl: sandbox.baseUrl,
      smtpHost: smtp.host,
      smtpPort: smtp.port,
      token: honest.token,
      privateKey: sandbox.wallets[0]!.privateKey,
      mailboxId: honest.mailbox.mailboxId,
      mailboxAddress: honest.mailbox.address,
      localAddress: HONEST_ADDRESS
    }
    // In a session of its own, whose priority the attacker does not lower.
    const child = fork(MAIN, [JSON.stringify(options)], { detached: true })
    const exited = once(child, "exit").then(() => {
      throw new Error("the honest client ended")
    })
    await Promise.race([once(child, "message"), exited])
    exited.catch(() => undefined)
    return new HonestProcess(child)
  }

  /** Begins to measure. */
  begin(): void {
    this.#child.send("reset")
  }

  /** Ends it. Resolves to its report since `begin`. */
  async finish(): Promise<HonestReport> {
    this.#child.send("finish")
    const [report] = (await once(this.#child, "message")) as [HonestReport]
    return report
  }

  kill(): void {
    this.#child.kill("SIGKILL")
  }
}
