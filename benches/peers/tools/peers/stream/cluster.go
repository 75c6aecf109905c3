package main

import (
	"fmt"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"podinit.bench/tools/peers/recording"
)

// How many pods start at the same time.
const atOnce = 500

// The versions of one pod, in their order. The last one is that of its deletion.
type life []*corev1.Pod

// readLives reads the lives of a recording that begin in it; what still stands at its end is deleted then.
func readLives(path string) ([]life, error) {
	byUID := map[types.UID]life{}
	var order []types.UID
	err := recording.Each(path, func(kind watch.EventType, pod *corev1.Pod) {
		if kind == watch.Added {
			order = append(order, pod.UID)
			byUID[pod.UID] = nil
		}
		if versions, begun := byUID[pod.UID]; begun {
			pod.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
			byUID[pod.UID] = append(versions, pod)
		}
	})
	if err != nil {
		return nil, err
	}
	var lives []life
	for _, uid := range order {
		if versions := byUID[uid]; len(versions) > 2 {
			lives = append(lives, append(versions, versions[len(versions)-1]))
		}
	}
	if len(lives) == 0 {
		return nil, fmt.Errorf("no pod begins in %s", path)
	}
	return lives, nil
}

type event struct {
	kind   watch.EventType
	object runtime.Object
}

// A cluster of the pods that stand and of those that come and go.
type cluster struct {
	rate, events, eventBytes, listBytes, watches atomic.Int64

	lives []life

	mutex    sync.Mutex
	standing map[types.UID]*corev1.Pod
	version  int64
	watchers map[chan event]bool
	made     int
}

func newCluster(lives []life, pods int) *cluster {
	cluster := &cluster{lives: lives, version: 1000, standing: map[types.UID]*corev1.Pod{}, watchers: map[chan event]bool{}}
	var ready []life
	for _, versions := range lives {
		last := versions[len(versions)-2]
		if last.Status.Phase == corev1.PodRunning && last.DeletionTimestamp == nil {
			ready = append(ready, versions)
		}
	}
	began := time.Now()
	for number := range pods {
		if len(ready) == 0 {
			break
		}
		versions := ready[number%len(ready)]
		// Each time as old as in any other run, so that a list is compressed as well.
		age := time.Hour + time.Duration(number)*100*time.Millisecond
		pod := cluster.instance(versions[len(versions)-2], cluster.begin(versions, began.Add(-age)), began)
		cluster.standing[pod.UID] = pod
	}
	return cluster
}

// One pod that lives a recorded life.
type living struct {
	versions life
	next     int
	number   int
	since    time.Time
}

func (cluster *cluster) begin(versions life, now time.Time) *living {
	cluster.made++
	return &living{versions: versions, number: cluster.made, since: now}
}

// instance is a version under the name and at the times of this pod.
func (cluster *cluster) instance(of *corev1.Pod, as *living, now time.Time) *corev1.Pod {
	pod := of.DeepCopy()
	shift := as.since.Sub(as.versions[0].CreationTimestamp.Time)
	at := func(time *metav1.Time) {
		if time != nil && !time.IsZero() {
			if time.Time = time.Add(shift); time.After(now) {
				time.Time = now
			}
		}
	}
	pod.Name = fmt.Sprintf("%s-%d", pod.Name, as.number)
	pod.UID = types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", as.number))
	cluster.version++
	pod.ResourceVersion = strconv.FormatInt(cluster.version, 10)
	at(&pod.CreationTimestamp)
	at(pod.Status.StartTime)
	at(pod.DeletionTimestamp)
	for index := range pod.Status.Conditions {
		at(&pod.Status.Conditions[index].LastTransitionTime)
	}
	for index := range pod.ManagedFields {
		at(pod.ManagedFields[index].Time)
	}
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for index := range statuses {
			if running := statuses[index].State.Running; running != nil {
				at(&running.StartedAt)
			}
			if terminated := statuses[index].State.Terminated; terminated != nil {
				at(&terminated.StartedAt)
				at(&terminated.FinishedAt)
			}
		}
	}
	return pod
}

// play lets pods live: of those that live at the same time, one after the other takes its next step.
func (cluster *cluster) play() {
	var pods []*living
	for number := range atOnce {
		pods = append(pods, cluster.begin(cluster.lives[number%len(cluster.lives)], time.Now()))
	}
	due := time.Now()
	for turn := 0; ; turn++ {
		rate := cluster.rate.Load()
		for rate == 0 {
			time.Sleep(10 * time.Millisecond)
			due, rate = time.Now(), cluster.rate.Load()
		}
		due = due.Add(time.Second / time.Duration(rate))
		if wait := time.Until(due); wait > 0 {
			time.Sleep(wait)
		}
		pod := pods[turn%atOnce]
		if pod.next == 0 {
			pod.since = time.Now()
		}
		cluster.step(pod)
		if pod.next == len(pod.versions) {
			cluster.mutex.Lock()
			pods[turn%atOnce] = cluster.begin(cluster.lives[cluster.made%len(cluster.lives)], time.Now())
			cluster.mutex.Unlock()
		}
	}
}

func (cluster *cluster) step(pod *living) {
	cluster.mutex.Lock()
	defer cluster.mutex.Unlock()
	version := cluster.instance(pod.versions[pod.next], pod, time.Now())
	kind := watch.Modified
	switch pod.next {
	case 0:
		kind = watch.Added
	case len(pod.versions) - 1:
		kind = watch.Deleted
	}
	pod.next++
	if kind == watch.Deleted {
		delete(cluster.standing, version.UID)
	} else {
		cluster.standing[version.UID] = version
	}
	for watcher := range cluster.watchers {
		watcher <- event{kind, version}
	}
}

// list is what stands, by namespace and name.
func (cluster *cluster) list() ([]*corev1.Pod, string) {
	cluster.mutex.Lock()
	defer cluster.mutex.Unlock()
	return cluster.sorted(), strconv.FormatInt(cluster.version, 10)
}

func (cluster *cluster) sorted() []*corev1.Pod {
	pods := make([]*corev1.Pod, 0, len(cluster.standing))
	for _, pod := range cluster.standing {
		pods = append(pods, pod)
	}
	sort.Slice(pods, func(one, other int) bool {
		if pods[one].Namespace != pods[other].Namespace {
			return pods[one].Namespace < pods[other].Namespace
		}
		return pods[one].Name < pods[other].Name
	})
	return pods
}

// watch opens a watch of what comes from now on, and lists what stands now if that is wanted too.
func (cluster *cluster) watch(initial bool) (chan event, []*corev1.Pod, string, func()) {
	events := make(chan event, 1<<16)
	cluster.mutex.Lock()
	defer cluster.mutex.Unlock()
	var standing []*corev1.Pod
	if initial {
		standing = cluster.sorted()
	}
	cluster.watchers[events] = true
	cluster.watches.Add(1)
	return events, standing, strconv.FormatInt(cluster.version, 10), func() {
		go func() {
			for range events {
			}
		}()
		cluster.mutex.Lock()
		defer cluster.mutex.Unlock()
		delete(cluster.watchers, events)
		cluster.watches.Add(-1)
		close(events)
	}
}
