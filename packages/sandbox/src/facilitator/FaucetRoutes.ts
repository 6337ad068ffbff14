import * as Schema from "effect/Schema"
import { formatUnits, type Hex, parseUnits } from "viem"
import { sandboxUsdtAbi, usdt, usdt0Network } from "../chain/SandboxNetwork.ts"
import { decodeJson, HttpError, ok, readJson, type Routes } from "../shared/JsonServer.ts"
import type { FacilitatorOptions } from "./Facilitator.ts"
import { makeGasWallet } from "./GasWallet.ts"

/** Base units. More than an agent spends in a test, so that one request is enough. */
const AMOUNT_MAX = usdt(10_000)

const Request = Schema.Struct({
  address: Schema.String.check(
    Schema.isPattern(/^0x[0-9a-fA-F]{40}$/, { message: "must be an address: 0x and 40 hexadecimal digits" })
  ),
  amount: Schema.String.check(
    Schema.isPattern(/^\d{1,5}(?:\.\d{1,6})?$/, { message: "must be an amount of USDT as text, such as 100.00" })
  )
})

/**
 * `POST /sandbox/faucet` with `{address, amount}` sends test USDT from the account of the key to the address, and answers
 * with the `transaction` when it is mined. `ready` fails if the chain is unavailable.
 */
export const faucetRoutes = (options: FacilitatorOptions, ready: () => Promise<unknown>): Routes => {
  const gasWallet = makeGasWallet(options)
  const signer = gasWallet.signer(() => undefined)
  const token = { address: options.asset as Hex, abi: sandboxUsdtAbi } as const
  return {
    "/sandbox/faucet": {
      POST: async (request) => {
        const { address, amount } = decodeJson(Request, await readJson(request), { amount: "100.00" })
        const value = parseUnits(amount, usdt0Network.decimals)
        if (value === 0n || value > AMOUNT_MAX)
          throw new HttpError(
            422,
            `\`amount\`: must be above 0 and at most ${formatUnits(AMOUNT_MAX, usdt0Network.decimals)} USDT`
          )
        if (BigInt(address) === 0n) throw new HttpError(422, "`address`: the zero address can't receive tokens")
        await ready()
        const left = await signer.readContract({ ...token, functionName: "balanceOf", args: [gasWallet.address] })
        if (typeof left !== "bigint" || left < value)
          throw new HttpError(409, "the faucet has not that much: start the sandbox with another data folder")
        // In lower case, so that no checksum is checked.
        const to = address.toLowerCase()
        const hash = await signer.writeContract({ ...token, functionName: "transfer", args: [to, value] })
        const { status } = await signer.waitForTransactionReceipt({ hash })
        if (status !== "success") throw new HttpError(500, `the transaction ${hash} was reverted`)
        return ok({ address, amount, transaction: hash })
      }
    }
  }
}
