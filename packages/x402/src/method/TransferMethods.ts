import type { EvmChain } from "../chain/EvmChain.ts"
import type { OfferedNetwork } from "../network/PaymentNetwork.ts"
import * as Eip3009 from "./eip3009/Eip3009.ts"
import * as Permit2 from "./permit2/Permit2.ts"
import type { TransferMethod } from "./TransferMethod.ts"

export const transferMethod = (offered: OfferedNetwork, chain: EvmChain): TransferMethod =>
  offered.transferMethod === "permit2" ? Permit2.make(offered, chain) : Eip3009.make(offered, chain)
