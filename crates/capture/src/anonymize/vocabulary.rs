//! The words of Kubernetes that an anonymized recording keeps, by the field in which they stand. They are
//! constants of its source, of its autoscalers and, where the specification names them, of OpenKruise and Argo.

/// Kinds of objects, also of owners.
pub(super) const KINDS: &str = "
    Pod PodList Event EventList List Status Node NodeList Deployment ReplicaSet ReplicationController StatefulSet
    DaemonSet Job CronJob PodTemplate PodGroup Workload Service Endpoints EndpointSlice ConfigMap Secret
    ServiceAccount Namespace PersistentVolume PersistentVolumeClaim StorageClass ResourceClaim
    ResourceClaimTemplate ResourceSlice HorizontalPodAutoscaler PodDisruptionBudget Lease Workflow
";

/// Groups and versions of the API.
pub(super) const API_VERSIONS: &str = "
    v1 meta.k8s.io/v1 apps/v1 batch/v1 autoscaling/v1 autoscaling/v2 policy/v1 storage.k8s.io/v1
    coordination.k8s.io/v1 discovery.k8s.io/v1 events.k8s.io/v1 networking.k8s.io/v1 node.k8s.io/v1
    resource.k8s.io/v1 resource.k8s.io/v1beta1 resource.k8s.io/v1beta2 scheduling.k8s.io/v1
    scheduling.k8s.io/v1alpha1 scheduling.k8s.io/v1alpha2
";

/// Types of the conditions of a pod.
pub(super) const CONDITION_TYPES: &str = "
    PodScheduled PodReadyToStartContainers PodHasNetwork Initialized ContainersReady Ready DisruptionTarget
    PodResizePending PodResizeInProgress AllContainersRestarting InPlaceUpdateReady
";

/// What reports Events.
pub(super) const COMPONENTS: &str = "
    kubelet kube-proxy default-scheduler kube-scheduler cluster-autoscaler karpenter descheduler
    attachdetach-controller cronjob-controller daemonset-controller daemon-controller deployment-controller
    device-taint-eviction disruption-controller endpoint-controller endpoint-slice-controller
    ephemeral-volume gc-controller horizontal-pod-autoscaler job-controller node-controller
    node-lifecycle-controller persistentvolume-controller persistentvolume-expander pod-garbage-collector
    podgc replicaset-controller replication-controller resource-claim-controller resource_claim_controller
    statefulset-controller taint-controller taint-eviction-controller
    volume_expand
";

/// Priority classes that every cluster has.
pub(super) const PRIORITY_CLASSES: &str = "system-cluster-critical system-node-critical";

/// Kinds of volumes.
pub(super) const VOLUME_SOURCES: &str = "
    awsElasticBlockStore azureDisk azureFile cephfs cinder configMap csi downwardAPI emptyDir ephemeral fc
    flexVolume flocker gcePersistentDisk gitRepo glusterfs hostPath image iscsi nfs persistentVolumeClaim
    photonPersistentDisk portworxVolume projected quobyte rbd scaleIO secret storageos vsphereVolume
";

/// Reasons: of conditions, of containers that wait or have ended, of pods, of Events and of a `Status`.
/// A message keeps them too.
pub(super) const REASONS: &str = "
    Unschedulable SchedulingGated SchedulerError NominatedNodeName PodCompleted PodFailed ContainersNotReady
    ContainersNotInitialized ReadinessGatesNotReady UnknownContainerStatuses PodSandboxNotReady
    KubeletReady KubeletNotReady NodeStatusUnknown NodeStatusNeverUpdated
    PreemptionByScheduler DeletionByTaintManager DeletionByDeviceTaintManager EvictionByEvictionAPI
    DeletionByPodGC TerminationByKubelet Deferred Infeasible Error

    ContainerCreating PodInitializing ErrImagePull ImagePullBackOff ErrImageNeverPull InvalidImageName
    ImageInspectError RegistryUnavailable SignatureValidationFailed ImageVolumeMountFailed
    CreateContainerConfigError CreateContainerError RunContainerError PreCreateHookError PreStartHookError
    PostStartHookError CrashLoopBackOff StartContainer KillContainer InitContainer CreatePodSandbox
    CreatePodSandboxError ConfigPodSandbox ConfigPodSandboxError KillPodSandbox KillPodSandboxError
    KillContainerError VerifyNonRoot VerifyNonRootError RunInitContainerError

    Completed OOMKilled ContainerCannotRun ContainerStatusUnknown StartError DeadlineExceeded NodeLost
    Evicted NodeAffinity NodePorts NodeName OutOfcpu OutOfmemory OutOfpods OutOfephemeral-storage
    UnexpectedAdmissionError AdmissionFailed Terminated NodeShutdown Shutdown TopologyAffinityError
    SysctlForbidden AppArmor SMTAlignmentError PodOSNotSupported PodOSSelectorNodeLabelDoesNotMatch
    InitContainerRestartForbidden PodLevelResourcesNotAdmittedReason PodFeatureUnsupported

    Created Started Failed Killing Preempting BackOff ExceededGracePeriod FailedKillPod
    FailedCreatePodContainer NetworkNotReady Pulling Pulled InspectFailed NodeReady NodeNotReady
    NodeSchedulable NodeNotSchedulable Starting FailedAttachVolume FailedMount VolumeResizeFailed
    VolumeResizeSuccessful FileSystemResizeFailed FileSystemResizeSuccessful FailedMapVolume
    WarnAlreadyMountedVolume SuccessfulAttachVolume SuccessfulMountVolume Rebooted
    FailedNodeAllocatableEnforcement NodeAllocatableEnforced SandboxChanged FailedCreatePodSandBox
    FailedPodSandBoxStatus FailedMountOnFilesystemMismatch FailedPrepareDynamicResources Unhealthy
    ProbeWarning FailedSync FailedValidation FailedPostStartHook FailedPreStopHook FailedDaemonPod
    ResizeStarted ResizeCompleted ResizeDeferred ResizeInfeasible ResizeError VolumeConditionAbnormal
    DNSConfigForming CheckLimitsForResolvConf HostPortConflict FailedToRetrieveImagePullSecret
    CgroupV1

    Scheduled FailedScheduling Preempted Binding WaitingForGates SuccessfulCreate SuccessfulDelete
    FailedCreate FailedDelete TaintManagerEviction DeviceTaintManagerEviction TriggeredScaleUp
    NotTriggerScaleUp ScaleDown ScaleDownFailed FailedToScaleUpGroup Nominated DisruptionBlocked
    ProvisioningSucceeded ProvisioningFailed ExternalProvisioning WaitForFirstConsumer
    WaitForPodScheduled FailedBinding FailedResourceClaimCreation ExternalExpanding

    Expired Gone Timeout InternalError TooManyRequests Forbidden Unauthorized NotFound Conflict
    ServiceUnavailable BadRequest Invalid ServerTimeout
";
