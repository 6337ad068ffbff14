import { Effect } from "effect"
import type { FacilitatorConfig, FacilitatorFactory } from "./Facilitator.ts"
import * as FacilitatorHttp from "./FacilitatorHttp.ts"
import * as FacilitatorOkx from "./FacilitatorOkx.ts"

/** Makes the client of a facilitator that is reached over HTTP. */
export const httpFacilitator =
  (config: FacilitatorConfig): FacilitatorFactory =>
  () =>
    Effect.succeed(config.kind === "okx" ? FacilitatorOkx.make(config) : FacilitatorHttp.make(config))
