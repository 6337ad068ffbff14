import { Cause, Schema } from "effect"

/**
 * The defect of a store that can't be reached, or can't commit at the moment. The caller's changes were not written,
 * unless the answer to a commit was lost.
 */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  /** The store's own message, without the values of any statement. */
  message: Schema.String,
  /** Whether the store itself refused, so that nothing was written. Otherwise the answer to a commit may be lost. */
  isUndone: Schema.Boolean,
  cause: Schema.Defect()
}) {}

/** Returns the first defect of an unavailable store, or undefined. */
export const findStoreUnavailable = ({ reasons }: Cause.Cause<unknown>): StoreUnavailable | undefined =>
  reasons
    .map((reason) => (Cause.isDieReason(reason) ? reason.defect : undefined))
    .find((defect) => defect instanceof StoreUnavailable)
