import type { ProviderError } from "@agentos/core"
import type { FacilitatorFactory } from "../facilitator/Facilitator.ts"
import type { OfferedNetwork } from "../network/PaymentNetwork.ts"
import { Effect } from "effect"
import type { GasTransactionStore } from "./GasTransactionStore.ts"
import type { SelfFacilitatorConfig } from "./SelfFacilitatorConfig.ts"

/** Makes the self-hosted facilitator of a network. Its keeper runs until the scope closes. */
export const selfFacilitator =
  (config: SelfFacilitatorConfig): FacilitatorFactory<GasTransactionStore> =>
  (offered) =>
    // It takes longer to load than all the rest of the payment rail, and most servers do not need it.
    Effect.flatMap(
      Effect.promise(() => import("./FacilitatorSelf.ts")),
      (FacilitatorSelf) => FacilitatorSelf.make(offered, config)
    )

/** Checks that the gas wallet of a network can pay for a settlement now, and that its gas is not too expensive to sell. */
export const checkGasWallet = (
  offered: OfferedNetwork,
  config: SelfFacilitatorConfig
): Effect.Effect<void, ProviderError> =>
  Effect.flatMap(
    Effect.promise(() =>
      Promise.all([
        import("./GasAccount.ts"),
        import("./GasChain.ts"),
        import("./GasSale.ts"),
        import("./GasSpender.ts")
      ])
    ),
    ([GasAccount, GasChain, { checkOffered }, { checkSolvency }]) => {
      const [account, chain] = [GasAccount.make(offered, config), GasChain.make(offered)]
      return Effect.andThen(checkSolvency(account, chain), checkOffered(offered, chain.market, account.saleCeiling))
    }
  )
