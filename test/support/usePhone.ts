import { readChainDescription, type SandboxDescription } from "@agentos/sandbox"
import { join } from "node:path"
import { generatePrivateKey } from "viem/accounts"
import { afterAll, beforeAll } from "vitest"
import { Agent } from "./Agent.ts"
import { CarrierAccount } from "./CarrierAccount.ts"
import { Chain } from "./Chain.ts"
import { PhoneCarrier } from "./PhoneCarrier.ts"
import { PhoneCustomer } from "./PhoneCustomer.ts"
import { type Sandbox, type SandboxOptions, startSandbox } from "./Sandbox.ts"
import { Treasury } from "./Treasury.ts"

/** A sandbox for all tests of a file, with its carrier and funded customers. */
export interface PhoneUnderTest {
  readonly running: Sandbox
  readonly sandbox: SandboxDescription
  readonly chain: Chain
  readonly carrier: PhoneCarrier
  readonly account: CarrierAccount
  /** Creates a wallet with 100 USDT and no access token. Its first payment makes it a tenant. */
  readonly customer: (privateKey?: `0x${string}`) => Promise<PhoneCustomer>
}

const FUNDS = 100

/** Starts the sandbox before the first test with the options of `prepare`, and stops it after the last. */
export const usePhone = (prepare: () => Promise<SandboxOptions> = async () => ({})): PhoneUnderTest => {
  let started:
    | {
        readonly running: Sandbox
        readonly sandbox: SandboxDescription
        readonly treasury: Treasury
        readonly account: CarrierAccount
      }
    | undefined
  beforeAll(async () => {
    const running = await startSandbox(await prepare())
    const chain = await readChainDescription(join(running.directory, "chain"))
    if (chain === undefined) throw new Error("the sandbox's folder has no chain")
    const sandbox = await running.describe()
    started = { running, sandbox, treasury: new Treasury(chain), account: await CarrierAccount.open(running, sandbox) }
  })
  afterAll(() => started?.running.stop())
  const host = () => {
    if (started === undefined) throw new Error("the sandbox is not running")
    return started
  }
  return {
    get running() {
      return host().running
    },
    get sandbox() {
      return host().sandbox
    },
    get chain() {
      return new Chain(host().sandbox)
    },
    get carrier() {
      return new PhoneCarrier(host().sandbox)
    },
    get account() {
      return host().account
    },
    customer: async (privateKey = generatePrivateKey()) => {
      const { sandbox, treasury } = host()
      const agent = new Agent(sandbox, privateKey)
      await treasury.fund([agent.account.address], FUNDS)
      return new PhoneCustomer(agent, sandbox.agentWebhookUrl)
    }
  }
}
