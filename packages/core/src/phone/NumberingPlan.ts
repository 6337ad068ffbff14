import { Context } from "effect"

/** Whether a number may be called. `uncallable` numbers have no subscriber or belong to no numbering plan. */
export type NumberKind = "callable" | "emergency" | "premium" | "uncallable"

/** The port to the world's numbering plans. It makes no network request: its knowledge is data. */
export class NumberingPlan extends Context.Service<
  NumberingPlan,
  {
    readonly kindOf: (number: string) => NumberKind
    /**
     * Returns the country or territory of a callable number (ISO 3166-1 alpha-2), or undefined if it belongs to none.
     * Distinguishes the parts of a shared plan: +1 is US, CA, and some twenty others.
     */
    readonly countryOf: (number: string) => string | undefined
  }
>()("@agentos/core/phone/NumberingPlan") {}
