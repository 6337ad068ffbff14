import { type ChainDescription, sandboxChain, sandboxClient } from "@agentos/sandbox"
import { x402Facilitator } from "@x402/core/facilitator"
import { type FacilitatorEvmSigner, toFacilitatorEvmSigner } from "@x402/evm"
import { ExactEvmScheme } from "@x402/evm/exact/facilitator"
import {
  createErc20ApprovalGasSponsoringExtension,
  EIP2612_GAS_SPONSORING,
  type TransactionRequest
} from "@x402/extensions"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"
import {
  createWalletClient,
  type Hex,
  http,
  parseEther,
  parseTransaction,
  publicActions,
  recoverTransactionAddress,
  type TransactionSerialized
} from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"

/** A facilitator made of x402's library, with both of its extensions for allowances. */
export interface StockFacilitator {
  readonly url: string
  /** The address of its gas wallet. */
  readonly address: Hex
  /** Serves a chain, which needs to answer only from the first request on. */
  readonly serve: (chain: Pick<ChainDescription, "rpcUrl" | "network">) => void
  readonly close: () => void
}

export const startStockFacilitator = async (): Promise<StockFacilitator> => {
  const account = privateKeyToAccount(generatePrivateKey())
  let library: Promise<x402Facilitator> | undefined
  let starting: () => Promise<x402Facilitator> = () => Promise.reject(new Error("no chain is served"))
  const answer = async (path: string | undefined, body: string): Promise<unknown> => {
    const facilitator = await (library ??= starting())
    if (path === "/supported") return facilitator.getSupported()
    const { paymentPayload, paymentRequirements } = JSON.parse(body)
    return await facilitator.settle(paymentPayload, paymentRequirements)
  }
  const server = createServer((request, response) => {
    void text(request)
      .then((body) => answer(request.url, body))
      .then(
        (result) => response.setHeader("content-type", "application/json").end(JSON.stringify(result)),
        () => response.writeHead(500).end()
      )
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const bound = server.address()
  return {
    url: `http://127.0.0.1:${typeof bound === "object" ? bound?.port : 0}`,
    address: account.address,
    serve: ({ network, rpcUrl }) => {
      const chainId = Number(network.slice("eip155:".length))
      starting = async () => {
        await sandboxClient(rpcUrl, chainId).setBalance({ address: account.address, value: parseEther("10") })
        const wallet = createWalletClient({
          account,
          chain: sandboxChain(rpcUrl, chainId),
          transport: http(rpcUrl),
          pollingInterval: 20
        }).extend(publicActions)
        const signer = toFacilitatorEvmSigner({ ...wallet, address: account.address } as unknown as Omit<
          FacilitatorEvmSigner,
          "getAddresses"
        > & { address: Hex })

        /** Sends a transaction that its payer signed, after the coins that the payer lacks for it. */
        const relay = async (signed: TransactionSerialized): Promise<Hex> => {
          const payer = await recoverTransactionAddress({ serializedTransaction: signed })
          const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(signed)
          const missing = gas * maxFeePerGas - (await wallet.getBalance({ address: payer }))
          if (missing > 0n) {
            const hash = await wallet.sendTransaction({ to: payer, value: missing })
            await wallet.waitForTransactionReceipt({ hash })
          }
          return wallet.sendRawTransaction({ serializedTransaction: signed })
        }
        const sendTransactions = async (requests: ReadonlyArray<TransactionRequest>): Promise<Array<Hex>> => {
          const hashes: Array<Hex> = []
          for (const request of requests) {
            const sent =
              typeof request === "string" ? relay(request as TransactionSerialized) : wallet.sendTransaction(request)
            hashes.push(await sent)
            await wallet.waitForTransactionReceipt({ hash: hashes.at(-1)! })
          }
          return hashes
        }
        return new x402Facilitator()
          .register(network, new ExactEvmScheme(signer, { simulateInSettle: true }))
          .registerExtension(EIP2612_GAS_SPONSORING)
          .registerExtension(createErc20ApprovalGasSponsoringExtension({ ...signer, sendTransactions }))
      }
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}
