import './kit/scalars.ts'
import './kit/errors.ts'
import './viewer/viewer.ts'
import './catalogue/profile.ts'
import './catalogue/applyProfile.ts'
import './catalogue/updateProfile.ts'
import './catalogue/project.ts'
import './catalogue/queue.ts'
import './catalogue/deletions.ts'
import './service/service.ts'
import './service/serviceQueries.ts'
import './service/servicesOfProfile.ts'
import './service/createService.ts'
import './service/serviceMutations.ts'
import './service/updateService.ts'
import './rollout/rolloutMutations.ts'
import './service/previewUpdate.ts'
import './replica/killReplica.ts'
import './replica/replicaLog.ts'
import './replica/requeueReplica.ts'
import './host/host.ts'
import './host/hostMutations.ts'
import './worker/worker.ts'
import './event/event.ts'
import './subscribe/endpointChanged.ts'
import './subscribe/serviceChanged.ts'
import './subscribe/replicasChanged.ts'
import './subscribe/rolloutChanged.ts'
import './subscribe/servicesChanged.ts'
import './subscribe/hostsChanged.ts'
import './subscribe/eventAdded.ts'
import './subscribe/logAppended.ts'
import './workerProtocol/workerProtocol.ts'
import './workerProtocol/assignmentsChanged.ts'
import './workerProtocol/workerDrain.ts'
import { builder } from './kit/builder.ts'
import { schemaOfUsers, schemaOfWorkers } from './kit/partSchema.ts'

// The imports above only load: each file adds its types and fields to the builder, which builds everything once.
const whole = builder.toSchema({ sortSchema: false })

/** The API of users, at /graphql. */
export const schema = schemaOfUsers(whole)

/** The worker's protocol, at /worker. */
export const workerSchema = schemaOfWorkers(whole)
