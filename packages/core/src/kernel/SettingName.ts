import { Context } from "effect"

/**
 * How messages to the operator name an option of the composition: by default as the option itself. A host that is
 * configured otherwise, for example by environment variables, provides the names of its settings.
 */
export const SettingName = Context.Reference<(option: string) => string>("@agentos/core/kernel/SettingName", {
  defaultValue: () => (option) => option
})
