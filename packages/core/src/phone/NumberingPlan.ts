import { Context } from "effect"

/** Whether a number may be called: `uncallable` ones have no subscriber to reach, or belong to no plan. */
export type NumberKind = "callable" | "emergency" | "premium" | "uncallable"

/** The port to what is known of the world's telephone numbers. It asks nobody: its knowledge is data. */
export class NumberingPlan extends Context.Service<
  NumberingPlan,
  {
    /** What a number in E.164 is. */
    readonly kindOf: (number: string) => NumberKind
  }
>()("@agentos/core/phone/NumberingPlan") {}
