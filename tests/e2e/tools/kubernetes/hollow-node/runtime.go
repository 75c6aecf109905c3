package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	apitest "k8s.io/cri-api/pkg/apis/testing"
	utilexec "k8s.io/utils/exec"
)

// Annotations of a pod that the runtime obeys.
const (
	// sandboxDelay is how long the sandbox takes, a Go duration.
	sandboxDelay = "e2e/sandbox-delay"
	// sandboxError is what the runtime says when it refuses the sandbox.
	sandboxError = "e2e/sandbox-error"
	// pullDelay is how long each image pull of the pod takes, a Go duration.
	pullDelay = "e2e/pull-delay"
	// pullError is what the runtime says when it refuses an image of the pod.
	pullError = "e2e/pull-error"
)

// runtime is the fake runtime of the CRI package with containers that live as
// their command says:
//
//	[exit, CODE, AFTER]  ends with CODE once it has run for AFTER (a Go duration)
//	anything else        runs until it is stopped
//
// and with probe commands: [ok], [fail], [after, AFTER] (fails until the
// container has run for AFTER).
type runtime struct {
	*apitest.FakeRuntimeService
	mu    sync.Mutex
	exits map[string]exit // by container
	ready *json.Encoder   // takes a sandboxReady for each sandbox, may be nil
}

// sandboxReady says when the runtime had made the sandbox of a pod.
type sandboxReady struct {
	UID, Namespace, Name string
	Ready                time.Time
}

type exit struct {
	code  int32
	after time.Duration
}

// newRuntime makes a runtime that appends to the file `sandboxes`, where one is
// named, when each sandbox became ready.
func newRuntime(sandboxes string) (*runtime, error) {
	fake := apitest.NewFakeRuntimeService()
	fake.FakeStatus = &runtimeapi.RuntimeStatus{Conditions: []*runtimeapi.RuntimeCondition{
		{Type: runtimeapi.RuntimeReady, Status: true},
		{Type: runtimeapi.NetworkReady, Status: true},
	}}
	r := &runtime{FakeRuntimeService: fake, exits: map[string]exit{}}
	if sandboxes != "" {
		file, err := os.OpenFile(sandboxes, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, err
		}
		r.ready = json.NewEncoder(file)
	}
	return r, nil
}

func (r *runtime) RunPodSandbox(ctx context.Context, config *runtimeapi.PodSandboxConfig, handler string) (string, error) {
	wait(ctx, config.GetAnnotations()[sandboxDelay])
	if said := config.GetAnnotations()[sandboxError]; said != "" {
		return "", errors.New(said)
	}
	id, err := r.FakeRuntimeService.RunPodSandbox(ctx, config, handler)
	if err != nil || r.ready == nil {
		return id, err
	}
	pod := config.GetMetadata()
	r.mu.Lock()
	defer r.mu.Unlock()
	return id, r.ready.Encode(sandboxReady{
		UID: pod.GetUid(), Namespace: pod.GetNamespace(), Name: pod.GetName(), Ready: time.Now().UTC(),
	})
}

func (r *runtime) CreateContainer(ctx context.Context, sandbox string, config *runtimeapi.ContainerConfig, pod *runtimeapi.PodSandboxConfig) (string, error) {
	id, err := r.FakeRuntimeService.CreateContainer(ctx, sandbox, config, pod)
	if err != nil {
		return id, err
	}
	if e, ok := parseExit(config.GetCommand()); ok {
		r.mu.Lock()
		r.exits[id] = e
		r.mu.Unlock()
	}
	return id, nil
}

func (r *runtime) RemoveContainer(ctx context.Context, id string) error {
	r.mu.Lock()
	delete(r.exits, id)
	r.mu.Unlock()
	return r.FakeRuntimeService.RemoveContainer(ctx, id)
}

func (r *runtime) ListContainers(ctx context.Context, filter *runtimeapi.ContainerFilter) ([]*runtimeapi.Container, error) {
	r.endContainers()
	return r.FakeRuntimeService.ListContainers(ctx, filter)
}

func (r *runtime) ContainerStatus(ctx context.Context, id string, verbose bool) (*runtimeapi.ContainerStatusResponse, error) {
	r.endContainers()
	return r.FakeRuntimeService.ContainerStatus(ctx, id, verbose)
}

// ExecSync runs a probe command.
func (r *runtime) ExecSync(_ context.Context, id string, command []string, _ time.Duration) ([]byte, []byte, error) {
	r.Lock()
	defer r.Unlock()
	container, ok := r.Containers[id]
	if !ok {
		return nil, nil, fmt.Errorf("container %q not found", id)
	}
	failed := utilexec.CodeExitError{Err: fmt.Errorf("exit status 1"), Code: 1}
	switch {
	case len(command) > 0 && command[0] == "fail":
		return nil, nil, failed
	case len(command) > 1 && command[0] == "after":
		after, err := time.ParseDuration(command[1])
		if err != nil {
			return nil, nil, err
		}
		if time.Since(time.Unix(0, container.StartedAt)) < after {
			return nil, nil, failed
		}
	}
	return nil, nil, nil
}

// endContainers ends those whose time has come, at the instant it came.
func (r *runtime) endContainers() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Lock()
	defer r.Unlock()
	for id, e := range r.exits {
		container, ok := r.Containers[id]
		if !ok || container.State != runtimeapi.ContainerState_CONTAINER_RUNNING {
			continue
		}
		due := time.Unix(0, container.StartedAt).Add(e.after)
		if time.Now().Before(due) {
			continue
		}
		container.State = runtimeapi.ContainerState_CONTAINER_EXITED
		container.FinishedAt = due.UnixNano()
		container.ExitCode = e.code
		container.Reason = "Completed"
		if e.code != 0 {
			container.Reason = "Error"
		}
	}
}

func parseExit(command []string) (exit, bool) {
	if len(command) != 3 || command[0] != "exit" {
		return exit{}, false
	}
	var code int32
	if _, err := fmt.Sscanf(command[1], "%d", &code); err != nil {
		return exit{}, false
	}
	after, err := time.ParseDuration(command[2])
	if err != nil {
		return exit{}, false
	}
	return exit{code: code, after: after}, true
}

// imageService is the fake one of the CRI package, as slow as the pod wants it, or failing.
type imageService struct {
	*apitest.FakeImageService
}

func (s *imageService) PullImage(ctx context.Context, image *runtimeapi.ImageSpec, auth *runtimeapi.AuthConfig, pod *runtimeapi.PodSandboxConfig) (string, error) {
	wait(ctx, pod.GetAnnotations()[pullDelay])
	if said := pod.GetAnnotations()[pullError]; said != "" {
		return "", errors.New(said)
	}
	return s.FakeImageService.PullImage(ctx, image, auth, pod)
}

// wait sleeps for a Go duration; an empty or unreadable one is no time.
func wait(ctx context.Context, text string) {
	delay, err := time.ParseDuration(text)
	if err != nil {
		return
	}
	select {
	case <-time.After(delay):
	case <-ctx.Done():
	}
}
