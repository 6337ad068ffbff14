import { AgentOs, type AgentOsOptions, type JournalEntry, type PaymentJournal } from "@agentos/client"
import type { SandboxDescription } from "@agentos/sandbox"
import { createTransport, type SendMailOptions } from "nodemailer"
import { readFile } from "node:fs/promises"

/** A request of a client, and its answer if it has arrived. */
export interface SentRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  status?: number
}

/** What happens to a request: it is sent, lost before it is sent, lost after it was answered, or never answered. */
export type Fate = "sent" | "lost before" | "lost after" | "never answered"

/** A network that records the requests of a client, and loses those that a test chooses. */
export class RecordedNetwork {
  readonly requests: Array<SentRequest> = []
  /** Decides the fate of a request. */
  fate: (request: SentRequest) => Fate = () => "sent"

  readonly fetch: NonNullable<AgentOsOptions["fetch"]> = async (url, init) => {
    const { body, headers, method = "GET" } = init
    const request: SentRequest = {
      url,
      method,
      headers: Object.fromEntries(new Headers(headers)),
      body: typeof body === "string" ? body : null
    }
    this.requests.push(request)
    const fate = this.fate(request)
    if (fate === "lost before") throw new TypeError("the connection was refused")
    const response = await fetch(url, init)
    request.status = response.status
    if (fate === "lost after") throw new TypeError("the connection was closed")
    return fate === "never answered" ? new Promise<Response>(() => {}) : response
  }

  /** The requests with a payment. */
  get paid(): ReadonlyArray<SentRequest> {
    return this.requests.filter(({ headers }) => "payment-signature" in headers && "idempotency-key" in headers)
  }

  to(path: string): ReadonlyArray<SentRequest> {
    return this.requests.filter(({ url }) => url.endsWith(path))
  }
}

/** A journal that survives its client, as JSON in the memory of the test. */
export class MemoryJournal implements PaymentJournal {
  readonly entries = new Map<string, string>()
  readonly states: Array<JournalEntry["state"]["tag"]> = []

  readonly load = async (): Promise<ReadonlyArray<JournalEntry>> =>
    [...this.entries.values()].map((text): JournalEntry => JSON.parse(text))

  readonly save = async (entry: JournalEntry): Promise<void> => {
    this.entries.set(entry.id, JSON.stringify(entry))
    this.states.push(entry.state.tag)
  }
}

export const LIMITS = { perCall: "6.00", perDay: "50.00" }

export const connectTo = (sandbox: SandboxDescription, options: AgentOsOptions): Promise<AgentOs> =>
  AgentOs.connect(sandbox.baseUrl, { ...(options.wallet === undefined ? {} : { spend: LIMITS }), ...options })

/** Sends a mail from the external domain, so that it passes authentication. */
export const sendMail = async (
  { mail }: SandboxDescription,
  to: string,
  content: Pick<SendMailOptions, "html" | "attachments"> & {
    readonly subject: string
    readonly text?: string
    readonly from?: string
  }
): Promise<void> => {
  const { host, outside, port } = mail
  const transport = createTransport({ host, port, tls: { rejectUnauthorized: false } })
  await transport.sendMail({
    from: `visitor@${outside.domain}`,
    to,
    ...content,
    dkim: {
      domainName: outside.domain,
      keySelector: outside.dkimSelector,
      privateKey: await readFile(outside.dkimKeyFile, "utf8")
    }
  })
}
