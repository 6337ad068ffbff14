import type { SandboxDescription } from "@agentos/sandbox"
import type { PrivateKeyAccount } from "viem/accounts"
import { Agent, type MailboxFields } from "../support/Agent.ts"

/** A wallet, and what it knows of itself. */
export class Buyer {
  /** Reads what the wallet owns, once it was told its access token. */
  readonly reader: Agent
  private readonly sandbox: SandboxDescription
  private readonly privateKey: `0x${string}`

  constructor(sandbox: SandboxDescription, privateKey: `0x${string}`) {
    this.sandbox = sandbox
    this.privateKey = privateKey
    this.reader = new Agent(sandbox, privateKey)
  }

  get account(): PrivateKeyAccount {
    return this.reader.account
  }

  get address(): `0x${string}` {
    return this.reader.account.address
  }

  get token(): string | undefined {
    return this.reader.token
  }

  /** The wallet's first mailbox comes with the token that opens all that it has. */
  learnToken(token: string): void {
    this.reader.token ??= token
  }

  /** Sends requests as the wallet knows itself now, also later: a repetition has to have the same header. */
  sender(): Agent {
    const agent = new Agent(this.sandbox, this.privateKey)
    agent.token = this.token
    return agent
  }
}

/** The mailboxes that a wallet owns, as the service lists them. */
export const mailboxesOf = async ({ reader }: Buyer): Promise<ReadonlyArray<MailboxFields>> => {
  const reply = await reader.send({ path: "/api/v1/email/mailboxes/query" })
  if (reply.status !== 200) throw new Error(`no list of mailboxes but ${reply.status}: ${reply.text}`)
  return reply.body.data["items"] as unknown as ReadonlyArray<MailboxFields>
}

/** What of a number is looked at. */
export interface NumberFields {
  readonly phoneNumberId: string
  readonly number: string
  readonly agentName: string
  readonly status: "active" | "expiring" | "suspended" | "released"
  readonly entitlement: { readonly startedAt: string; readonly expiresAt: string }
  readonly inboundAllowance: { readonly purchasedSeconds: number }
}

/** The numbers that a wallet has or had, as the service lists them. */
export const numbersOf = async ({ reader }: Buyer): Promise<ReadonlyArray<NumberFields>> => {
  const reply = await reader.send({ path: "/api/v1/phone/numbers" })
  if (reply.status !== 200) throw new Error(`no list of numbers but ${reply.status}: ${reply.text}`)
  return reply.body.data["items"] as unknown as ReadonlyArray<NumberFields>
}

/** What of a call is looked at. */
export interface CallFields {
  readonly callId: string
  readonly toNumber: string
  readonly status: "queued" | "ringing" | "in_progress" | "ended"
  readonly authorizedSeconds: number
}

/** A call of a wallet's, as the service tells of it. */
export const callOf = async ({ reader }: Buyer, callId: string): Promise<CallFields> => {
  const reply = await reader.send({ path: `/api/v1/phone/calls/${callId}` })
  if (reply.status !== 200) throw new Error(`no call ${callId} but ${reply.status}: ${reply.text}`)
  return reply.body.data["call"] as unknown as CallFields
}
