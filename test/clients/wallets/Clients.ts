/** A client that buys a mailbox from the sandbox. */
export interface StockClient {
  /** Its name in the table. */
  readonly client: string
  /** The packages to install, each with its exact version; the first is the client. */
  readonly packages: ReadonlyArray<string>
  /** A file in `drivers`. */
  readonly driver: string
  /** Part of what its user sees; absent for a client that pays. */
  readonly fails?: RegExp
  /** Why it fails, or what its user has to know: one sentence. */
  readonly note?: string
  /** How it fails on a chain where Permit2 moves the token, and why. Absent if it does there as it does on the other. */
  readonly permit2?: { readonly fails: RegExp; readonly note: string }
  /** For packages whose peer dependencies contradict each other. */
  readonly ignoresPeers?: boolean
}

const CURRENT = ["@x402/fetch@2.27.0", "@x402/evm@2.27.0", "viem@2.57.20"]
const ASCII_ONLY =
  "It decodes the challenge by `atob` and encodes the payment by `btoa`, so it signs for a garbled token name unless the name is ASCII"
const NO_PERMIT2 = "Its source has EIP-3009 only"
/** @x402/evm 2.0.0 and 2.2.0. */
const OLD_EVM = {
  fails: /EIP-712 domain parameters \(name, version\) are required/,
  note: "It signs by EIP-3009 only, and requires the version of the token's domain"
}
const VERSION_1 = "It reads the offers of x402 version 1 from the body, and this service speaks version 2"

/** Clients of x402 version 2 with the signers that they accept, then all others. */
export const CLIENTS: ReadonlyArray<StockClient> = [
  {
    client: "@x402/fetch, spend controls set",
    packages: CURRENT,
    driver: "x402Fetch"
  },
  {
    client: "@x402/fetch, no configuration",
    packages: CURRENT,
    driver: "x402FetchDefault",
    fails: /spendControls/,
    note: "It refuses tokens that are not in its own list until `setSpendControls` allows them"
  },
  {
    client: "@x402/fetch",
    packages: ["@x402/fetch@2.0.0", "@x402/evm@2.0.0", "viem@2.57.20"],
    driver: "x402Fetch",
    fails: /Latin-1/,
    note: ASCII_ONLY,
    permit2: OLD_EVM
  },
  {
    client: "@x402/axios, no configuration",
    packages: ["@x402/axios@2.11.0", "@x402/evm@2.11.0", "axios@1.21.1", "viem@2.57.20"],
    driver: "axios"
  },
  {
    client: "@x402/axios with @x402/core 2.27.0, no configuration",
    packages: ["@x402/axios@2.2.0", "@x402/core@2.27.0", "@x402/evm@2.2.0", "axios@1.21.1", "viem@2.57.20"],
    driver: "axios",
    fails: /spendControls/,
    note: "It takes the newest `@x402/core`, which refuses tokens until `setSpendControls` allows them"
  },
  {
    client: "@x402/axios with @x402/core 2.27.0, spend controls set",
    packages: ["@x402/axios@2.2.0", "@x402/core@2.27.0", "@x402/evm@2.2.0", "axios@1.21.1", "viem@2.57.20"],
    driver: "axiosAllowed",
    permit2: OLD_EVM
  },
  {
    client: "@payai/x402",
    packages: ["@payai/x402@2.4.1", "@x402/evm@2.4.0", "viem@2.57.20"],
    driver: "payai",
    permit2: {
      fails: /permit2Authorization\.witness\.extra is not valid/,
      note: "It signs for an earlier proxy of Permit2, 0x4020615294c913F045dc10f0a5cdEbd86c280001, with another witness"
    }
  },
  {
    client: "@x402sentinel/x402 around @x402/fetch",
    packages: ["@x402sentinel/x402@0.2.0", ...CURRENT],
    driver: "sentinel"
  },
  {
    client: "ethers, as signer of @x402/fetch",
    packages: ["ethers@6.17.0", ...CURRENT],
    driver: "ethers"
  },
  {
    client: "web3.js (web3-eth-abi), as signer of @x402/fetch",
    packages: ["web3-eth-abi@4.4.1", "web3-eth-accounts@4.3.1", ...CURRENT],
    driver: "web3"
  },
  { client: "ox, as signer of @x402/fetch", packages: ["ox@1.8.3", ...CURRENT], driver: "ox" },
  {
    client: "micro-eth-signer, as signer of @x402/fetch",
    packages: ["micro-eth-signer@0.20.1", ...CURRENT],
    driver: "microEthSigner"
  },
  {
    client: "MetaMask's eth-sig-util, as signer of @x402/fetch",
    packages: ["@metamask/eth-sig-util@9.0.0", ...CURRENT],
    driver: "metamask"
  },
  {
    client: "Tether's WDK, as signer of @x402/fetch",
    packages: ["@tetherto/wdk-wallet-evm@1.0.0-beta.14", ...CURRENT],
    driver: "tether"
  },
  {
    client: "mppx",
    packages: ["mppx@0.11.0", "viem@2.57.20"],
    driver: "mppx",
    ignoresPeers: true,
    permit2: { fails: /No method found for challenges/, note: "Its source has EIP-3009 only, and refuses `permit2`" }
  },
  {
    client: "mppx, the command line",
    packages: ["mppx@0.11.0", "viem@2.57.20"],
    driver: "mppxCli",
    ignoresPeers: true,
    permit2: { fails: /UNSUPPORTED_METHOD/, note: "Its source has EIP-3009 only, and refuses `permit2`" }
  },
  {
    client: "thirdweb",
    packages: ["thirdweb@5.121.6"],
    driver: "thirdweb",
    permit2: {
      fails: /No supported payment authorization methods found/,
      note: "Its source has EIP-3009 and EIP-2612 only, which it looks for in the token"
    }
  },
  {
    client: "pinion-os",
    packages: ["pinion-os@0.4.0"],
    driver: "pinion",
    permit2: { fails: /contains an EIP-3009 payment/, note: NO_PERMIT2 }
  },
  {
    client: "@faremeter/fetch",
    packages: ["@faremeter/fetch@0.22.0", "@faremeter/payment-evm@0.22.0", "viem@2.41.2"],
    driver: "faremeter",
    fails: /failed to complete payment after retries/,
    note: `${ASCII_ONLY}; it hides the answer, which names this reason`,
    permit2: { fails: /failed to complete payment after retries/, note: NO_PERMIT2 }
  },
  {
    client: "@bankofai/x402",
    packages: ["@bankofai/x402@0.5.8", "@bankofai/agent-wallet@2.4.0"],
    driver: "bankofai",
    fails: /payload\.signature is not valid/,
    note: "It sends the authorization in an extension of its own and the signature without `0x`, and takes the token's name from its own list"
  },
  {
    client: "@dexterai/x402",
    packages: ["@dexterai/x402@2.0.0", "viem@2.57.20"],
    driver: "dexter",
    fails: /Payment was rejected by the server/,
    note: `${ASCII_ONLY}; it hides the answer, which names this reason`,
    permit2: { fails: /Payment was rejected by the server/, note: NO_PERMIT2 }
  },
  {
    client: "agentcash, the command line",
    packages: ["agentcash@0.14.4", "mppx@0.11.0", "ethers@6.17.0"],
    driver: "agentcash",
    ignoresPeers: true,
    fails: /Invalid network/,
    note: "It pays only on the chains of its own list: Base, Solana and Tempo"
  },
  {
    client: "x402-fetch",
    packages: ["x402-fetch@1.2.0"],
    driver: "v1fetch",
    fails: /reading 'map'/,
    note: VERSION_1
  },
  {
    client: "x402-axios",
    packages: ["x402-axios@0.7.2", "axios@1.21.1"],
    driver: "v1axios",
    fails: /reading 'map'/,
    note: VERSION_1
  },
  {
    client: "@b3dotfun/anyspend-x402-fetch",
    packages: ["@b3dotfun/anyspend-x402-fetch@0.2.5"],
    driver: "anyspend",
    fails: /reading 'map'/,
    note: VERSION_1
  },
  {
    client: "uvd-x402-sdk",
    packages: ["uvd-x402-sdk@2.38.0"],
    driver: "uvd",
    fails: /X-PAYMENT is the header of x402 version 1/,
    note: "It signs USDC for a chain of its own list before it asks for the price, and sends X-PAYMENT of version 1"
  },
  {
    client: "x402-stacks",
    packages: ["x402-stacks@2.0.3", "axios@1.21.1"],
    driver: "stacks",
    fails: /No compatible payment option found/,
    note: "It pays on Stacks only"
  },
  {
    client: "x402-solana",
    packages: ["x402-solana@2.0.4"],
    driver: "solana",
    fails: /No suitable Solana payment requirements found/,
    note: "It pays on Solana only"
  }
]

/** Packages that cannot buy here, or only with a service that this test may not reach. */
export const NOT_RUN: ReadonlyArray<readonly [string, string]> = [
  ["@coinbase/agentkit 0.10.4", "Its action provider uses `@coinbase/x402` and USDC on Base and Solana only"],
  ["@coinbase/cdp-sdk 1.57.0, @privy-io/node, @turnkey/viem", "Their keys are held by a service on the internet"],
  [
    "aptos-x402 3.0.2",
    "It pays on Aptos only, and its published module does not load: it imports a file without its extension"
  ],
  ["@x402-avm/core 2.6.1, x402-starknet 1.0.0, x402-client 1.0.0", "They pay on Algorand, Starknet and Solana only"],
  [
    "@openfacilitator/sdk 1.0.0, @net-protocol/relay 0.1.5, facinet 2.4.6",
    "They are clients of one facilitator or relay, and do not answer a 402"
  ]
]
