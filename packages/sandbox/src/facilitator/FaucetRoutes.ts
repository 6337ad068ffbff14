import * as Schema from "effect/Schema"
import { formatUnits, type Hex, parseUnits } from "viem"
import { makeGasWallet } from "./GasWallet.ts"
import { decodeJson, HttpError, ok, readJson, type Routes } from "../shared/JsonServer.ts"
import { sandboxUsdt, sandboxUsdtAbi } from "../chain/SandboxNetwork.ts"

/** The chain of a faucet, and the key of the account that deployed its token. */
export interface Faucet {
  readonly rpcUrl: string
  readonly chainId: number
  readonly asset: string
  readonly deployerKey: Hex
}

/** Base units. More than an agent spends in a test, and far below what overflows the token's supply. */
const AMOUNT_MAX = parseUnits("10000", sandboxUsdt.decimals)

const Request = Schema.Struct({
  address: Schema.String.check(
    Schema.isPattern(/^0x[0-9a-fA-F]{40}$/, { message: "must be an address: 0x and 40 hexadecimal digits" })
  ),
  amount: Schema.String.check(
    Schema.isPattern(/^\d{1,5}(?:\.\d{1,6})?$/, { message: "must be an amount of USDT as text, such as 100.00" })
  )
})

/**
 * `POST /sandbox/faucet` with `{address, amount}` creates test USDT for the address, and answers with its `transaction`
 * when it is mined.
 */
export const faucetRoutes = ({ asset, chainId, deployerKey, rpcUrl }: Faucet): Routes => {
  const wallet = makeGasWallet({ rpcUrl, chainId, privateKey: deployerKey }).signer(() => undefined)
  return {
    "/sandbox/faucet": {
      POST: async (request) => {
        const { address, amount } = decodeJson(Request, await readJson(request), { amount: "100.00" })
        const value = parseUnits(amount, sandboxUsdt.decimals)
        if (value === 0n || value > AMOUNT_MAX)
          throw new HttpError(
            422,
            `\`amount\`: must be above 0 and at most ${formatUnits(AMOUNT_MAX, sandboxUsdt.decimals)} USDT`
          )
        const hash = await wallet.writeContract({
          address: asset as Hex,
          abi: sandboxUsdtAbi,
          functionName: "mint",
          args: [address, value]
        })
        const { status } = await wallet.waitForTransactionReceipt({ hash })
        if (status !== "success") throw new HttpError(500, `the transaction ${hash} was reverted`)
        return ok({ address, amount, transaction: hash })
      }
    }
  }
}
