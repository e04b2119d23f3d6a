import './scalars.ts'
import './errors.ts'
import './viewer.ts'
import './profile.ts'
import './project.ts'
import './queue.ts'
import './service.ts'
import './serviceQueries.ts'
import './host.ts'
import './worker.ts'
import './event.ts'
import { builder } from './builder.ts'

/** The whole API. The imports above only load: each file adds its noun to the builder. */
export const schema = builder.toSchema()
