import { Context } from "effect"

/** Whether a number may be called: `uncallable` ones have no subscriber to reach, or belong to no plan. */
export type NumberKind = "callable" | "emergency" | "premium" | "uncallable"

/** The port to what is known of the world's telephone numbers. It asks nobody: its knowledge is data. */
export class NumberingPlan extends Context.Service<
  NumberingPlan,
  {
    /** What a number in E.164 is. */
    readonly kindOf: (number: string) => NumberKind
    /**
     * The country or territory of a callable number (ISO 3166-1 alpha-2), or undefined where it belongs to none. Parts of
     * a shared plan are told apart: +1 is US, CA, and some twenty others.
     */
    readonly countryOf: (number: string) => string | undefined
  }
>()("@agentos/core/phone/NumberingPlan") {}
