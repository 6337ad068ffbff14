import * as Schema from "effect/Schema"
import { formatUnits, type Hex, parseEther, parseUnits } from "viem"
import { sandboxUsdtAbi, usdt, usdt0Network } from "../chain/SandboxNetwork.ts"
import { decodeJson, HttpError, ok, readJson, type Routes } from "../shared/JsonServer.ts"
import { blockNumberOf, type FacilitatorOptions } from "./Facilitator.ts"
import { makeGasWallet } from "./GasWallet.ts"

/** Base units. More than an agent spends in a test, so that one request is enough. */
const AMOUNT_MAX = usdt(10_000)
/** Enough to allow Permit2 the token, many times. */
const GAS = parseEther("0.1")

const Request = Schema.Struct({
  address: Schema.String.check(
    Schema.isPattern(/^0x[0-9a-fA-F]{40}$/, { message: "must be an address: 0x and 40 hexadecimal digits" })
  ),
  amount: Schema.String.check(
    Schema.isPattern(/^\d{1,5}(?:\.\d{1,6})?$/, { message: "must be an amount of USDT as text, such as 100.00" })
  ),
  network: Schema.optionalKey(Schema.String),
  asset: Schema.optionalKey(Schema.String)
})

type FaucetNetwork = Omit<FacilitatorOptions, "privateKey">

/**
 * `POST /sandbox/faucet` with `{address, amount, network, asset}` sends a test token from the account of the key to the address,
 * and answers with the `transaction` when it is mined. `network` is a CAIP-2 id, by default that of the first network, and
 * `asset` the address of a token there, by default the first. Where Permit2 moves the token, the address also receives gas,
 * because its owner must allow that first, unless the allowance comes with a payment.
 */
export const faucetRoutes = (networks: readonly [FaucetNetwork, ...ReadonlyArray<FaucetNetwork>], key: Hex): Routes => {
  const faucets = networks.map((network) => ({
    network: `eip155:${network.chainId}`,
    asset: network.asset.toLowerCase(),
    give: makeFaucet(network, key)
  }))
  const first = `eip155:${networks[0].chainId}`
  return {
    "/sandbox/faucet": {
      POST: async (request) => {
        const body = decodeJson(Request, await readJson(request), { amount: "100.00" })
        const { address, amount, asset, network = first } = body
        const tokens = faucets.filter((faucet) => faucet.network === network)
        if (tokens.length === 0) {
          const known = new Set(faucets.map((faucet) => faucet.network))
          throw new HttpError(422, `\`network\`: must be one of ${[...known].join(", ")}`)
        }
        const faucet = asset === undefined ? tokens[0] : tokens.find((one) => one.asset === asset.toLowerCase())
        if (faucet === undefined)
          throw new HttpError(422, `\`asset\`: must be one of ${tokens.map((one) => one.asset).join(", ")}`)
        const value = parseUnits(amount, usdt0Network.decimals)
        if (value === 0n || value > AMOUNT_MAX)
          throw new HttpError(
            422,
            `\`amount\`: must be above 0 and at most ${formatUnits(AMOUNT_MAX, usdt0Network.decimals)} USDT`
          )
        if (BigInt(address) === 0n) throw new HttpError(422, "`address`: the zero address can't receive tokens")
        // In lower case, so that no checksum is checked.
        return ok({ ...body, transaction: await faucet.give(address.toLowerCase() as Hex, value) })
      }
    }
  }
}

/** Returns a function that sends base units to an address, and resolves with the mined transaction. */
const makeFaucet = ({ asset, gasSponsoring, transferMethod, ...chain }: FaucetNetwork, privateKey: Hex) => {
  const gasWallet = makeGasWallet({ ...chain, privateKey })
  const signer = gasWallet.signer(() => undefined)
  const token = { address: asset as Hex, abi: sandboxUsdtAbi } as const
  return async (to: Hex, value: bigint): Promise<Hex> => {
    await blockNumberOf(gasWallet)
    const left = await signer.readContract({ ...token, functionName: "balanceOf", args: [gasWallet.address] })
    if (typeof left !== "bigint" || left < value)
      throw new HttpError(409, "the faucet has not that much: start the sandbox with another data folder")
    const hashes = [await signer.writeContract({ ...token, functionName: "transfer", args: [to, value] })]
    if (transferMethod === "permit2" && gasSponsoring === undefined) hashes.push(await gasWallet.send(to, GAS))
    for (const hash of hashes) {
      const { status } = await signer.waitForTransactionReceipt({ hash })
      if (status !== "success") throw new HttpError(500, `the transaction ${hash} was reverted`)
    }
    return hashes[0]!
  }
}
